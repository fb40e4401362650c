"""`rayeval golden anchor`."""

from __future__ import annotations

from typing import Annotated

import typer

from rayeval.cli import options
from rayeval.errors import EXIT_INVALID, EXIT_PASS, ConfigError


def anchor(
    golden: Annotated[str, typer.Argument(metavar="GOLDEN", help="A golden set.")],
    corpus: Annotated[str, typer.Option("--corpus", metavar="C", help="The documents of today.")],
    was: Annotated[
        str | None,
        typer.Option("--was", metavar="OLD", help="The documents that it was labelled on."),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Write it there, with what moved.")
    ] = None,
    write: Annotated[bool, typer.Option("--write", help="Write it over GOLDEN.")] = False,
    take: Annotated[
        list[str] | None,
        typer.Option("--take", metavar="QUESTION", help="Approve its suggestion (~); repeatable."),
    ] = None,
    take_exact: Annotated[
        bool,
        typer.Option("--take-exact", help="Approve text that is word for word in one document."),
    ] = False,
    json: options.Json = False,
) -> int:
    """Find the gold again after documents changed, and show what moved, is ambiguous or lost.

    Nothing is written without --out or --write; with either, what moved is written, and notes
    of what stands where go beside it, so that the next change can be followed without --was.
    Where a quote stands twice by now, its page or offsets are written with it.
    For lost text it suggests (~) where it stands word for word in one other document, or what is
    nearest to it; a suggestion becomes gold only when it is approved by --take or --take-exact.

    Example: `rayeval golden anchor golden.jsonl --corpus docs --was docs-of-2025`
    """
    from rayeval.execution.golden.anchor import anchor_golden
    from rayeval.report.golden import anchoring_text

    if write and out is not None:
        raise ConfigError("--write and --out both say where to write; keep one")
    found = anchor_golden(
        golden, corpus, was=was, out=golden if write else out,
        taken=take or (), exact=take_exact,
    )  # fmt: skip
    if json:
        changes = [change.json() for change in found.changes]
        options.print_json({
            "path": found.path, "counts": found.counts, "changes": changes,
            "written": found.written,
        })  # fmt: skip
    else:
        print(anchoring_text(found))  # noqa: T201
    return EXIT_PASS if found.sound else EXIT_INVALID
