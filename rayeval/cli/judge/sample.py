"""`rayeval judge sample`."""

from __future__ import annotations

from typing import Annotated

import typer

from rayeval.cli import options


def sample(
    run: options.RunName,
    out: Annotated[str, typer.Option("--out", metavar="SHEET", help="The CSV to write.")],
    task: Annotated[
        str, typer.Option("--task", help="support, reference, citations, correctness, relevance.")
    ] = "support",
    n: Annotated[int, typer.Option("--n", min=1, help="How many items.")] = 100,
    by: Annotated[
        list[str] | None,
        typer.Option("--by", metavar="SLICE", help="Also some from this slice; may be repeated."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the draw, with each item's id.")] = 42,
    runs: options.Runs = "runs",
    json: options.Json = False,
) -> None:
    """Draw verdicts for people to label: low ones more often, with every item's chance noted.

    Example: `rayeval judge sample 20260801 --task support --n 100 --out sheet.csv`, fill in
    `label`, then `rayeval judge calibrate --human sheet.csv --run 20260801 --task support`
    """
    from rayeval.calibration.sheet import instruction
    from rayeval.execution.judging import write_sheet
    from rayeval.execution.runs import load
    from rayeval.words import plural

    written = write_sheet(load(run, runs), task, n, out, seed=seed, by=by or ())
    if json:
        options.print_json({"path": out, "task": task, "n": written})
    else:
        print(f"{plural(written, 'item')} in {out}. {instruction(task)}")  # noqa: T201
