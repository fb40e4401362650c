"""List columns and flat arrays: how rooms look at a batch without touching rows one by one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.tables import HIT, HITS

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def combined(column: pa.ChunkedArray | pa.Array) -> pa.Array:
    """One contiguous array."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


def flatten(column: pa.ChunkedArray | pa.Array) -> tuple[Ints, pa.Array]:
    """A list column as (row of every item, items); null lists have none."""
    array = combined(column)
    lengths = pc.fill_null(pc.list_value_length(array), 0).to_numpy(zero_copy_only=False)
    rows = np.repeat(np.arange(len(array), dtype=np.int64), lengths)
    return rows, pc.list_flatten(array)


def lists(
    rows: npt.NDArray[np.signedinteger],
    items: pa.Array,
    n_rows: int,
    *,
    null: npt.NDArray[np.bool_] | None = None,
) -> pa.Array:
    """The inverse of `flatten`: `items`, sorted by `rows`, as a list column of `n_rows`.

    null: (n_rows,), rows that are null rather than empty; they must have no items.
    """
    counts = np.bincount(rows, minlength=n_rows)
    offsets = np.zeros(n_rows + 1, dtype=np.int32)
    np.cumsum(counts, out=offsets[1:])
    mask = None if null is None or not null.any() else pa.array(null)
    return pa.ListArray.from_arrays(pa.array(offsets), items, mask=mask)


def top_hits(
    rows: Ints,
    chunk_ids: pa.Array,
    scores: Floats,
    n_rows: int,
    depth: int,
    *,
    null: npt.NDArray[np.bool_] | None = None,
) -> pa.Array:
    """The `depth` best hits of every row by (-score, chunk_id), of type HITS.

    rows, chunk_ids, scores: (n_hits,), in any order, no id twice in a row, no NaN.
    """
    frame = pl.DataFrame({"row": rows, "chunk_id": pl.Series(chunk_ids), "score": scores})
    best = frame.sort(["row", "score", "chunk_id"], descending=[False, True, False])
    best = best.filter(pl.int_range(pl.len()).over("row") < depth)
    hit = pa.StructArray.from_arrays(
        [best["chunk_id"].to_arrow().cast(HIT["chunk_id"].type), best["score"].to_arrow()],
        fields=list(HIT),
    )
    return lists(best["row"].to_numpy(), hit, n_rows, null=null).cast(HITS)
