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

    All is written or, where a row can't be mapped, nothing.

    Example: `rayeval golden import beir scifact/ --out scifact-golden`
    """
    from rayeval.interop.formats import formats
    from rayeval.interop.out.ours import write_imported
    from rayeval.report.plain import printable

    known = formats()
    if name not in known:
        raise ConfigError(f"unknown format {name!r}; there are {', '.join(known)}")
    imported = known[name].read(files)
    written = write_imported(imported, out)
    notes = [*imported.of_gold, *imported.notes]
    if json:
        options.print_json({"path": out, "files": written, "notes": notes})
        return
    for file, rows in written.items():
        print(printable(f"{out}/{file}: {plural(rows, 'row')}"))  # noqa: T201
    for note in notes:
        print(printable(f"note: {note}"))  # noqa: T201
