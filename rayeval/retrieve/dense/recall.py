"""How much of exact search an index finds, apart from whether it matters to the task."""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from rayeval.columns import flatten
from rayeval.retrieve.dense.store import Mask

KEY = ["row", "chunk_id"]


class IndexRecall:
    """A stage: what an approximate arm lost of the exact one.

    exact, ann: the columns of hits to compare, of type HITS; null: not run.
    depth: how many hits count. tolerance: a score this much below the depth-th exact one ties it.
    Batch: also `gold_chunks`, a list of structs with `chunk_id`.
    Result: `index_recall`, `lost_gold`, `lost_harmless`, as of `index_recall`.
    """

    def __init__(self, exact: str, ann: str, *, depth: int, tolerance: float = 1e-6) -> None:
        self.exact = exact
        self.ann = ann
        self.depth = depth
        self.tolerance = tolerance

    def __call__(self, batch: pa.Table) -> pa.Table:
        """A row per question."""
        columns = (batch[self.exact], batch[self.ann], batch["gold_chunks"])
        return index_recall(*columns, depth=self.depth, tolerance=self.tolerance)


def index_recall(
    exact: pa.ChunkedArray,
    ann: pa.ChunkedArray,
    gold_chunks: pa.ChunkedArray,
    *,
    depth: int,
    tolerance: float,
) -> pa.Table:
    """The share of the exact neighbours that an index found, and whom it lost.

    exact, ann: HITS, best first; the first `depth` count, null where not run.
    gold_chunks: per question, structs with `chunk_id`.
    Returns a row per question: `index_recall` in [0, 1], where a hit counts by its id, or for tying
    the last exact neighbour within `tolerance`, each id once and padding never; `lost_gold`, the
    exact neighbours among the gold chunks that the index lacks; and `lost_harmless`, other lost
    ones that no tie makes up for. NaN and nulls where one was not run, or nothing is to be found.
    """
    wanted, given = _hits(exact, depth), _hits(ann, depth).unique(KEY)
    last = wanted.group_by("row").agg(k=pl.len(), last=pl.col("score").min())
    compared = given.join(wanted.select(*KEY, same=True), on=KEY, how="left").join(last, on="row")
    hit = pl.col("same").is_not_null() | (pl.col("score") >= pl.col("last") - tolerance)
    found = compared.filter(hit).group_by("row").agg(found=pl.len())
    lost = wanted.join(given, on=KEY, how="anti").join(_ids(gold_chunks), on=KEY, how="semi")
    counts = pl.DataFrame({"row": range(len(exact)), "ran": _ran(exact) & _ran(ann)})
    for part in (last, found, lost.group_by("row").agg(gold=pl.len())):
        counts = counts.join(part, on="row", how="left")
    return _table(counts.sort("row"))


def _table(counts: pl.DataFrame) -> pa.Table:
    k = pl.when("ran").then(pl.col("k").cast(pl.Int64))
    found = pl.min_horizontal(pl.col("found").fill_null(0).cast(pl.Int64), k)
    gold = pl.when(k.is_not_null()).then(pl.col("gold").fill_null(0).cast(pl.Int64))
    result = counts.select(
        index_recall=(found / k).fill_null(float("nan")),
        lost_gold=gold,
        lost_harmless=(k - found - gold).clip(lower_bound=0),
    )
    return result.to_arrow()


def _hits(column: pa.ChunkedArray, depth: int) -> pl.DataFrame:
    """The first `depth` hits of every row as (row, chunk_id, score); what has no id is padding."""
    scores = pl.Series(flatten(column)[1].field("score"))
    frame = _ids(column).with_columns(score=scores)
    return frame.filter(pl.int_range(pl.len()).over("row") < depth).drop_nulls("chunk_id")


def _ids(column: pa.ChunkedArray) -> pl.DataFrame:
    """A list column of structs with `chunk_id` as (row, chunk_id)."""
    rows, items = flatten(column)
    return pl.DataFrame({"row": rows, "chunk_id": pl.Series(items.field("chunk_id"))})


def _ran(column: pa.ChunkedArray) -> Mask:
    ran: Mask = column.is_valid().to_numpy()
    return ran
