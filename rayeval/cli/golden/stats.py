"""`rayeval golden stats`."""

from __future__ import annotations

from typing import Annotated

import typer

from rayeval.cli import options


def stats(
    golden: Annotated[str, typer.Argument(metavar="GOLDEN", help="A golden set.")],
    detect: Annotated[
        float,
        typer.Option(
            "--detect", min=0.001, max=0.999, help="The difference that a slice ought to show."
        ),
    ] = 0.1,
    json: options.Json = False,
) -> None:
    """Count what a golden set holds, and what each slice can decide.

    Example: `rayeval golden stats golden.jsonl`
    """
    from rayeval.execution.golden.sources import sound_questions
    from rayeval.golden.stats import stats as counted
    from rayeval.report.golden import stats_text

    found = {"path": golden, **counted(sound_questions(golden), detect=detect)}
    options.print_json(found) if json else print(stats_text(found))  # noqa: T201
