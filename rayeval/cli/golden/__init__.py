"""`rayeval golden …`: the tools of a golden set, a file per command."""

from __future__ import annotations

import typer

from rayeval.cli.formats import FormatsCommand
from rayeval.cli.golden.add import add
from rayeval.cli.golden.anchor import anchor
from rayeval.cli.golden.import_ import import_
from rayeval.cli.golden.label import label
from rayeval.cli.golden.ledger import ledger
from rayeval.cli.golden.lint import lint
from rayeval.cli.golden.split import split
from rayeval.cli.golden.stats import stats

golden = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
golden.command("import", cls=FormatsCommand)(import_)
for command in (lint, anchor, split, stats, add, label, ledger):
    golden.command()(command)
