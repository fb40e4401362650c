"""What several shards found, as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Ints, combined, flatten, lists, top_hits
from rayeval.tables import FOUND


def merge_found(parts: Sequence[pa.Table], depth: int) -> pa.Table:
    """The `depth` best hits of every row over all `parts`, by (-score, chunk_id).

    parts: at least one FOUND table, all of the same questions in the same order, over disjoint sets
    of chunks. Associative, and blind to their order. A row with an error in any part has that error
    (the first in code point order) and no hits; a row that no part ran is not run.
    """
    columns = [combined(part["hits"]) for part in parts]
    errors = pc.min_element_wise(*(combined(part["error"]) for part in parts))
    failed = errors.is_valid().to_numpy(zero_copy_only=False)
    absent = [column.is_null().to_numpy(zero_copy_only=False) for column in columns]
    flat = [flatten(column) for column in columns]
    rows = np.concatenate([row for row, _ in flat])
    kept = np.flatnonzero(~failed[rows])
    hits = pa.concat_arrays([items for _, items in flat]).take(pa.array(kept))
    best = top_hits(
        rows[kept],
        hits.field("chunk_id"),
        hits.field("score").to_numpy(),
        len(failed),
        depth,
        null=failed | np.all(absent, axis=0),
    )
    return pa.table([parts[0]["question_id"], best, errors], schema=FOUND)


def scored(rows: Ints, hits: pa.Array, n_rows: int) -> pa.Table:
    """The column `scores`: `hits` (HIT), each of a row, by chunk_id."""
    order = pc.sort_indices(
        pa.table({"row": rows, "chunk_id": hits.field("chunk_id")}),
        sort_keys=[("row", "ascending"), ("chunk_id", "ascending")],
    )
    return pa.table({"scores": lists(rows[order.to_numpy()], hits.take(order), n_rows)})


def merge_scores(parts: Sequence[pa.Table]) -> pa.Table:
    """`scores` of several shards, each of chunks of its own."""
    flat = [flatten(part["scores"]) for part in parts]
    rows = np.concatenate([row for row, _ in flat])
    return scored(rows, pa.concat_arrays([hits for _, hits in flat]), parts[0].num_rows)


def add_outranked(parts: Sequence[pa.Table]) -> pa.Table:
    """`outranked_by` of several shards, which count over chunks of their own, added up."""
    rows, _ = flatten(parts[0]["outranked_by"])
    counts = np.sum([flatten(part["outranked_by"])[1].to_numpy() for part in parts], axis=0)
    return pa.table({"outranked_by": lists(rows, pa.array(counts), parts[0].num_rows)})
