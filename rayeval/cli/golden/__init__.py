"""`rayeval golden`: the tools of a golden set."""

from __future__ import annotations

import typer

from rayeval.cli.golden.import_ import FormatsCommand, import_

golden = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
golden.command("import", cls=FormatsCommand)(import_)
