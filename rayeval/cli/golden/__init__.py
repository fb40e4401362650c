"""`rayeval golden …`: the tools that a golden set grows with, a file per command."""

from __future__ import annotations

import typer

from rayeval.cli.golden.add import add
from rayeval.cli.golden.label import label
from rayeval.cli.golden.ledger import ledger

golden = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
for command in (add, label, ledger):
    golden.command()(command)
