"""A folder of runs in the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.text import Text

from rayeval.report.terminal import headed, rendered


def listing_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """A line for every run."""
    if not rows:
        return "no finished run here; `rayeval run CONFIG` makes one"
    table = headed("run", "questions", "started", "is")
    for row in rows:
        said = ", ".join([*row["names"], *(["damaged"] if row["problem"] else row["unfinished"])])
        count = "" if row["questions"] is None else str(row["questions"])
        table.row(row["run_id"], count, row["started"] or "", said)
    return rendered([table, Text("")])
