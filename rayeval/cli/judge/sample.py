"""`rayeval judge sample`."""

from __future__ import annotations

from dataclasses import asdict
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
    force: Annotated[
        bool, typer.Option("--force", help="Write over a sheet that is there, labels and all.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Draw verdicts for people to label: low ones more often, each thing once.

    Example: `rayeval judge sample 20260801 --task support --n 100 --out sheet.csv`, fill in
    `label`, then `rayeval judge calibrate --human sheet.csv --run 20260801 --task support`
    """
    from rayeval.calibration.record import FEWEST
    from rayeval.calibration.sheet import instruction
    from rayeval.execution.runs import load
    from rayeval.execution.sampling import write_sheet
    from rayeval.words import plural

    written = write_sheet(load(run, runs), task, n, out, seed=seed, by=by or (), force=force)
    if json:
        options.print_json({"path": out, "task": task, "asked": n, **asdict(written)})
        return
    short = f", all that there are ({n:,} were asked for)" if written.n < n else ""
    print(f"{plural(written.n, 'item')} in {out}{short}")  # noqa: T201
    if written.verdicts > written.requests:
        print(  # noqa: T201
            f"drawn from {plural(written.requests, 'different item')} of {written.verdicts:,} "
            "verdicts; each counts as often as it occurs"
        )
    if written.short:
        few = ", ".join(f"{name}: {rows}" for name, rows in written.short.items())
        print(f"a gate needs {FEWEST} labelled items in each language; here are {few}")  # noqa: T201
    print(instruction(task))  # noqa: T201
