"""Runs and judgements as TREC's text, or as Parquet, which can hold any id."""

from __future__ import annotations

import io

import polars as pl
import pyarrow as pa

from rayeval import files
from rayeval.columns import combined, flatten
from rayeval.errors import DataError, Problem
from rayeval.interop.trec.rows import is_parquet

_SHOWN = 20


def write_run(table: pa.Table, path: str, *, tag: str = "rayeval") -> None:
    """One stage of a run's trace, hit by hit.

    table: `question_id` and `hits` (tables.HITS), a row per question; null hits are none.
    A hit's score is the number of hits from it on, so that every tool keeps our order: ties are
    ordered otherwise by trec_eval, and by its version 9 scores that are equal as 32-bit floats.
    Raises DataError if an id has white space, which TREC's text can't hold.
    """
    rows, hits = flatten(table["hits"])
    frame = pl.DataFrame(
        {
            "query_id": pl.Series(combined(table["question_id"]).take(pa.array(rows))),
            "doc_id": pl.Series(hits.field("chunk_id"), dtype=pl.String),
        }
    )
    rank = pl.int_range(1, pl.len() + 1).over("query_id")
    frame = frame.with_columns(rank=rank).with_columns(
        score=pl.len().over("query_id") - pl.col("rank") + 1
    )
    columns = ("query_id", pl.lit("Q0").alias("iteration"), "doc_id", "rank", "score")
    _write(path, frame.select(*columns, tag=pl.lit(tag)))


def write_qrels(table: pa.Table, path: str) -> None:
    """Judgements.

    table: `question_id, document, grade`, in the order to be written.
    Raises DataError if an id has white space, which TREC's text can't hold.
    """
    frame = pl.DataFrame(pl.from_arrow(table.select(["question_id", "document", "grade"])))
    iteration = pl.lit("0").alias("iteration")
    _write(path, frame.select(pl.col("question_id").alias("query_id"), iteration,
                              doc_id="document", relevance="grade"))  # fmt: skip


def _write(path: str, frame: pl.DataFrame) -> None:
    """All of the file or nothing."""
    sink = io.BytesIO()
    if is_parquet(path):
        frame.write_parquet(sink)
    else:
        _check_ids(path, frame)
        frame.write_csv(sink, separator=" ", include_header=False, quote_style="never")
    files.write_bytes(path, sink.getvalue())


def _check_ids(path: str, frame: pl.DataFrame) -> None:
    """Every id is one field of a line, and no line looks like a comment."""
    blank = pl.col("query_id", "doc_id").str.contains(r"[ \t\n\v\f\r]|^$")
    wrong = pl.any_horizontal(blank) | pl.col("query_id").str.starts_with("#")
    rows = frame.filter(wrong).select("query_id", "doc_id").unique(maintain_order=True)
    if rows.height:
        message = "TREC's text can't hold it: {!r} for {!r}; write to a .parquet file instead"
        raise DataError(
            [
                Problem(path, None, query, "blank_in_id", message.format(document, query))
                for query, document in rows.head(_SHOWN).iter_rows()
            ]
        )
