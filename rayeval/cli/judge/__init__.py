"""`rayeval judge …`: how far a judge can be trusted, a file per command."""

from __future__ import annotations

import typer

from rayeval.cli.judge.calibrate import calibrate
from rayeval.cli.judge.sample import sample

judge = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")
judge.command()(calibrate)
judge.command()(sample)
