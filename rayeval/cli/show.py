"""`rayeval show`."""

from __future__ import annotations

from typing import Annotated

import typer

from rayeval.cli import options


def show(
    run: options.RunName,
    question: Annotated[
        str | None, typer.Argument(metavar="[QUESTION]", help="A question's id: it in full.")
    ] = None,
    runs: options.Runs = "runs",
    json: options.Json = False,
) -> None:
    """Show a run in the terminal, or one of its questions in full.

    Example: `rayeval show 20260801 q-017`
    """
    from rayeval.execution.guard import looks
    from rayeval.execution.runs import load
    from rayeval.report.ledger import looks_text
    from rayeval.report.question import question_json, question_text
    from rayeval.report.terminal import run_text

    result = load(run, runs)
    if question is None:
        seen = looks(result)
        if json:
            options.print_json(result.summary() | ({"test_split": seen} if seen else {}))
        else:
            print(run_text(result) + (f"\n{looks_text(seen)}" if seen else ""))  # noqa: T201
    elif json:
        options.print_json(question_json(result, question))
    else:
        print(question_text(result, question))  # noqa: T201
