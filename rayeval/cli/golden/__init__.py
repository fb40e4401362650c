"""`rayeval golden …`: the tools of a golden set, a file per command."""

from __future__ import annotations

import typer

from rayeval.cli.golden.add import add
from rayeval.cli.golden.import_ import FormatsCommand, import_
from rayeval.cli.golden.label import label
from rayeval.cli.golden.ledger import ledger

golden = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
golden.command("import", cls=FormatsCommand)(import_)
for command in (add, label, ledger):
    golden.command()(command)
