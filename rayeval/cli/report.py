"""`rayeval report`."""

from __future__ import annotations

from typing import Annotated

import typer

from rayeval.cli import options


def report(
    name: Annotated[
        str, typer.Argument(metavar="RUN|COMPARISON", help="An id below --runs, or a path.")
    ],
    open_: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="[RUNS/reports/ID/report.html]")
    ] = None,
    runs: options.Runs = "runs",
    json: options.Json = False,
) -> None:
    """Write the page of a run or of a comparison anew; the run itself stays as it is.

    Example: `rayeval report 20260802 --open`
    """
    from rayeval.execution.decide.reports import write_page
    from rayeval.report.plain import printable

    path = write_page(name, runs, out)
    if open_:
        typer.launch(path)
    if json:
        options.print_json({"path": path})
    else:
        print(printable(path))  # noqa: T201
