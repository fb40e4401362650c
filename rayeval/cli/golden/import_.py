"""`rayeval golden import`."""

from __future__ import annotations

from typing import Annotated

import typer

from rayeval.cli import options
from rayeval.errors import ConfigError
from rayeval.words import plural


def import_(
    name: Annotated[
        str, typer.Argument(metavar="FORMAT", help="The tool: one of those listed below.")
    ],
    files: Annotated[
        list[str], typer.Argument(metavar="FILE...", help="Its files or folder, as listed below.")
    ],
    out: Annotated[
        str, typer.Option("--out", metavar="DIR", help="The folder for our files, made if need be.")
    ],
    json: options.Json = False,
) -> None:
    """Turn another tool's questions, documents and hits into golden.jsonl, docs.jsonl, trace.jsonl.

    Notes say what was decided on the way, and with which flags to score. Where a row can't be
    mapped, or would be refused as a question, nothing is written and every such row is named.

    Example: `rayeval golden import beir scifact/ --out scifact-golden`
    """
    from rayeval.execution.golden.imports import import_golden
    from rayeval.interop.formats import formats
    from rayeval.report.lines import wrapped
    from rayeval.report.plain import printable

    known = formats()
    if name not in known:
        raise ConfigError(f"unknown format {name!r}; there are {', '.join(known)}")
    written, notes = import_golden(known[name], files, out)
    if json:
        options.print_json({"path": out, "files": written, "notes": notes})
        return
    for file, rows in written.items():
        print(printable(f"{out}/{file}: {plural(rows, 'row')}"))  # noqa: T201
    for note in notes:
        print(wrapped(f"note: {note}"))  # noqa: T201
