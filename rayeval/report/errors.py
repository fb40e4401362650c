"""What the errors said in which questions ended."""

from __future__ import annotations

import polars as pl

from rayeval.answer_tables import VARIANTS
from rayeval.report.tables import Tables
from rayeval.words import plural

SCHEMA = {"question_id": pl.String, "message": pl.String}
SHOWN = 160
"""Characters of an error that a line shows."""


def messages(run: Tables) -> pl.DataFrame:
    """`question_id, message`: of every question that ended in an error, what that said."""
    parts = run.parts("failures", ["question_id", "status", "stage"])
    failed = pl.concat(p.filter(pl.col("status") == "error").drop("status") for p in parts)
    if failed.is_empty():
        return pl.DataFrame(schema=SCHEMA)
    told = [_told(part) for part in run.parts("trace", ["question_id", "stage", "error"])]
    if (failed["stage"] == VARIANTS[0]).any():
        answers = run.answers.select("question_id", "error", stage="variant")
        told.append(_told(answers))
    said = pl.concat(told).unique(["question_id", "stage"], keep="first", maintain_order=True)
    found = failed.join(said, on=["question_id", "stage"], how="left", maintain_order="left")
    return found.select("question_id", "message")


def most_said(run: Tables) -> str | None:
    """The error that most questions ended in, and how many did; None without any."""
    counts = messages(run)["message"].drop_nulls().value_counts()
    if counts.is_empty():
        return None
    message, n = counts.sort("count", "message", descending=[True, False]).row(0)
    line = " ".join(message.split())
    line = line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"
    others = f", and {plural(counts.height - 1, 'other error')}" if counts.height > 1 else ""
    return f"“{line}” ({plural(n, 'question')}){others}"


def _told(rows: pl.DataFrame) -> pl.DataFrame:
    rows = rows.filter(pl.col("error").is_not_null())
    return rows.select("question_id", "stage", message="error")
