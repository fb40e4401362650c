"""`rayeval golden import`."""

from __future__ import annotations

from typing import Annotated

import typer

from rayeval.cli import options
from rayeval.errors import ConfigError
from rayeval.words import plural


def import_(
    name: Annotated[str, typer.Argument(metavar="FORMAT", help="One of those listed below.")],
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="As the format says.")],
    out: Annotated[str, typer.Option("--out", metavar="DIR", help="Where to write our files.")],
    json: options.Json = False,
) -> None:
    """Turn another tool's files into golden.jsonl, docs.jsonl and trace.jsonl.

    All is written or, where a row can't be mapped or would be refused as a question, nothing.

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
