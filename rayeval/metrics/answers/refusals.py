"""How many answers were given and refused, with and without evidence at hand (DESIGN §7)."""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from rayeval.metrics.totals import SYNTHETIC
from rayeval.tables import TEXT

ABSTENTION = pa.schema(
    [
        ("slice", TEXT),  # null: all questions that count for means
        ("stage", TEXT),
        ("answerable", pa.bool_()),  # null: nobody said
        ("evidence", TEXT),
        ("refused", pa.bool_()),
        ("right", TEXT),
        ("n", pa.int64()),
    ]
)
"""Answers by what is told of them (`per_answer.ANSWERED`); the rates of refusals are sums of it."""
_OF = ABSTENTION.names[1:-1]


class Refusals:
    """Counts over per-answer tables, part by part."""

    def __init__(self) -> None:
        self._parts: list[pl.DataFrame] = []

    def add(self, per_answer: pa.Table, questions: pa.Table) -> None:
        """Counts the answers to `questions` (RESOLVED)."""
        asked = pl.DataFrame(questions.select(["question_id", "answerable", "slices"]))
        told = ("question_id", "stage", "evidence", "refused", "right")
        answers = pl.DataFrame(per_answer.select(list(told)))
        rows = answers.join(asked, on="question_id").with_columns(
            aside=pl.col("slices").list.contains(SYNTHETIC).fill_null(False),
        )
        whole = rows.filter(~pl.col("aside")).with_columns(slice=pl.lit(None, pl.String))
        inside = rows.with_columns(slice=pl.col("slices").list.unique()).explode("slice")
        inside = inside.drop_nulls("slice")
        inside = inside.filter(~pl.col("aside") | (pl.col("slice") == SYNTHETIC))
        for part in (whole, inside):
            self._parts.append(part.group_by("slice", *_OF).agg(n=pl.len().cast(pl.Int64)))

    def table(self) -> pa.Table:
        """ABSTENTION, sorted by all that it tells; null first."""
        if not self._parts:
            return ABSTENTION.empty_table()
        keys = ["slice", *_OF]
        counted = pl.concat(self._parts).group_by(keys).agg(pl.col("n").sum()).sort(keys)
        return counted.select(ABSTENTION.names).to_arrow().cast(ABSTENTION)
