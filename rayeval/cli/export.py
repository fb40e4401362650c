"""`rayeval export`."""

from __future__ import annotations

from typing import Annotated

import typer

from rayeval.cli import options


def export(
    run: options.RunName,
    kind: Annotated[
        str, typer.Option("--format", metavar="trec|beir|ragas", help="Which tool's files.")
    ],
    out: Annotated[str, typer.Option("--out", metavar="DIR", help="A new or empty folder.")],
    corpus: Annotated[
        str | None,
        typer.Option("--corpus", metavar="C", help="Documents [where they were at the run]."),
    ] = None,
    runs: options.Runs = "runs",
    json: options.Json = False,
) -> None:
    """Write a run as another tool's files, to check its figures with that tool.

    Scores fall with the rank, so that ties break as they did in the run.

    Example: `rayeval export 20260801 --format trec --out trec-files`
    """
    from rayeval.execution.export import export_run
    from rayeval.execution.runs import load
    from rayeval.report.lines import wrapped
    from rayeval.report.plain import printable

    names, notes = export_run(load(run, runs), kind, out, corpus)
    if json:
        options.print_json({"path": out, "files": names, "notes": notes})
        return
    for name in names:
        print(printable(f"{out}/{name}"))  # noqa: T201
    for note in notes:
        print(wrapped(f"note: {note}"))  # noqa: T201
