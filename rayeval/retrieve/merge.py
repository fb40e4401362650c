"""Hit lists of several shards as one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import combined, flatten, top_hits
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
