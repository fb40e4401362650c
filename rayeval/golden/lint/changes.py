"""Evidence whose text has changed under it since `golden anchor` noted it."""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from rayeval.errors import Problem
from rayeval.golden.lint.notes import notes
from rayeval.golden.problems import shown

SPAN = ["question_id", "evidence_id", "stated", "span"]


def changed(questions: pa.Table, noted: pl.DataFrame, now: pl.DataFrame) -> list[Problem]:
    """A problem for each span of evidence that says the same place, where another text stands.

    noted, now: of anchors.SCHEMA, as it was and as it is.
    """
    ids = pl.Series(questions["question_id"].to_pylist(), dtype=pl.String)
    rows = pl.DataFrame({"question_id": ids}).with_row_index("row")
    both = now.join(noted, on=SPAN, suffix="_noted").join(rows, on="question_id").sort(SPAN)
    apart = both.filter(pl.col("quote") != pl.col("quote_noted"))
    found = [
        (
            row["row"],
            f"evidence {row['evidence_id']!r} in {row['source_id']!r}: at [{row['start_char']}, "
            f"{row['end_char']}) stands {shown(row['quote'])}, where {shown(row['quote_noted'])} "
            "was noted; `rayeval golden anchor` finds it again",
        )
        for row in apart.iter_rows(named=True)
    ]
    return notes(questions, "evidence_changed", found, warning=False)
