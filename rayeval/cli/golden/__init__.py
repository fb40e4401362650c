"""`rayeval golden`: the tools that keep and grow a golden set."""

from __future__ import annotations

import typer

from rayeval.cli.golden.anchor import anchor
from rayeval.cli.golden.lint import lint
from rayeval.cli.golden.split import split
from rayeval.cli.golden.stats import stats

golden = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
for command in (lint, anchor, split, stats):
    golden.command()(command)
