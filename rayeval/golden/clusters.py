"""What is drawn together where no corpus is there to tell (DESIGN §8)."""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from rayeval.columns import flatten


def clusters(questions: pa.Table, *, relevant: int = 2) -> pl.Series:
    """`cluster`, else the first gold's source, else the question itself.

    questions: tables.QUESTIONS. relevant: evidence of this relevance or more is gold.
    Returns (n_questions,).
    """
    rows, evidence = flatten(questions["evidence"])
    fields = {name: evidence.field(name) for name in ("source_id", "relevance")}
    items = pl.DataFrame(pl.from_arrow(pa.table(fields))).with_columns(row=rows)
    gold = items.filter((pl.col("relevance") >= relevant) & pl.col("source_id").is_not_null())
    first = gold.group_by("row").agg(source=pl.col("source_id").first())
    frame = pl.DataFrame(pl.from_arrow(questions.select(["cluster", "question_id"])))
    frame = frame.with_row_index("row").with_columns(pl.col("row").cast(pl.Int64))
    joined = frame.join(first, on="row", how="left", maintain_order="left")
    return joined.select(pl.coalesce("cluster", "source", "question_id"))["cluster"]
