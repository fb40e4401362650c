"""A table of chunks, looked up by id."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Ints, combined
from rayeval.metrics.foreign.hits import hashed
from rayeval.tables import CHUNKS, conform

PLACED = pa.schema(
    [CHUNKS.field(n) for n in ("chunk_id", "source_id", "revision_id", "spans", "text", "tokens")]
)


class Chunks:
    """Chunks, or texts, by a hash of their id; ids decide."""

    def __init__(self, tables: Iterable[pa.Table]) -> None:
        parts = [conform(table, PLACED) for table in tables]
        self.table = pa.concat_tables([PLACED.empty_table(), *parts]).combine_chunks()
        self.ids = combined(self.table["chunk_id"])
        hashes = hashed(self.ids)
        self._order = np.argsort(hashes, kind="stable")
        self._hashes = hashes[self._order]

    def column(self, name: str) -> pa.Array:
        """One column."""
        return combined(self.table[name])

    def find(self, ids: pa.Array) -> Ints:
        """(n,): the row of every id; -1 of null and of what is not there."""
        if not len(self.ids):
            return np.full(len(ids), -1, np.int64)
        wanted = hashed(ids)
        at = np.minimum(np.searchsorted(self._hashes, wanted), len(self._order) - 1)
        rows = self._order[at]
        same = pc.fill_null(pc.equal(self.ids.take(pa.array(rows)), ids), False)
        return np.where(np.asarray(same), rows, -1).astype(np.int64)
