"""`rayeval golden ledger`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from rayeval.cli import options


def ledger(
    golden: Annotated[str, typer.Argument(metavar="GOLDEN", help="A golden set.")],
    json: options.Json = False,
) -> None:
    """List the comparisons on the test split that people have seen.

    A test split that is looked at often stops being one. Comparisons on other splits, and what CI
    does with the `regression` split, are not counted. What was seen of the same test questions in
    another golden set of the folder is.

    Example: `rayeval golden ledger golden.jsonl`
    """
    from rayeval import files
    from rayeval.golden.ledger import asked_of, entries, ledger_path
    from rayeval.report.ledger import ledger_text

    path = ledger_path(golden)
    if not files.exists(path):  # a golden set that is gone may have left its ledger
        files.check_file(golden, "golden set")
    found = entries(golden, asked_of(golden))
    if json:
        rows = [asdict(entry) for entry in found]
        options.print_json({"ledger": path, "comparisons": len(found), "entries": rows})
    else:
        print(ledger_text(path, [asdict(entry) for entry in found]))  # noqa: T201
