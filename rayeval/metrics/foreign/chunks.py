"""A table of chunks, looked up by id."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Ints, combined
from rayeval.metrics.foreign.hits import Hashes, hashed, text
from rayeval.tables import CHUNKS, STANDS, conform

PLACED = pa.schema(
    [CHUNKS.field(n) for n in ("chunk_id", "source_id", "revision_id", "spans", "text", "tokens")]
).append(pa.field("stands", STANDS))
REPEATED = ("source_id", "revision_id")
"""Columns in which many chunks have the same: each text is kept once."""


class Chunks:
    """Chunks, or texts, by a hash of their id; ids decide."""

    def __init__(self, tables: Iterable[pa.Table]) -> None:
        parts = [_coded(conform(table, PLACED)) for table in tables]
        empty = _coded(PLACED.empty_table())
        self.table = pa.concat_tables([empty, *parts]).unify_dictionaries().combine_chunks()
        self.ids = combined(self.table["chunk_id"])
        self._places = _Places(hashed(self.ids))

    def column(self, name: str) -> pa.Array:
        """One column; those that are REPEATED as dictionaries."""
        return combined(self.table[name])

    def take(self, name: str, rows: Ints) -> pa.Array:
        """What some chunks have in a column, (n,); null where a row is negative."""
        found = self.column(name).take(pa.array(rows, mask=rows < 0))
        return text(found) if name in REPEATED else found

    def find(self, ids: pa.Array) -> Ints:
        """(n,): the row of every id; -1 of null and of what is not there."""
        if not len(self.ids):
            return np.full(len(ids), -1, np.int64)
        rows = self._places.find(hashed(ids))
        same = pc.fill_null(pc.equal(self.ids.take(pa.array(rows)), ids), False)
        return np.where(np.asarray(same), rows, -1)


class _Places:
    """Where hashes stand in an array: sorted, with the place of the first of every leading bits.

    A look-up is two or three reads; a binary search of a million chunks has twenty.
    """

    def __init__(self, hashes: Hashes) -> None:
        small = np.int32 if len(hashes) < 1 << 31 else np.int64
        order = np.argsort(hashes, kind="stable")
        self.order, self.hashes = order.astype(small), hashes[order]
        bits = max(1, len(hashes).bit_length())
        self.shift = np.uint64(64 - bits)
        starts = np.arange(1 << bits, dtype=np.uint64) << self.shift
        self.first = np.searchsorted(self.hashes, starts).astype(small)

    def find(self, wanted: Hashes) -> Ints:
        """(n,): where each stands; any place where it does not."""
        last = len(self.hashes) - 1
        at = np.minimum(self.first[(wanted >> self.shift).view(np.int64)], last)
        behind = np.flatnonzero((self.hashes[at] < wanted) & (at < last))
        while len(behind):
            at[behind] += 1
            behind = behind[at[behind] < last]
            behind = behind[self.hashes[at[behind]] < wanted[behind]]
        rows: Ints = self.order[at].astype(np.int64)
        return rows


def _coded(table: pa.Table) -> pa.Table:
    for name in REPEATED:
        at = table.schema.get_field_index(name)
        table = table.set_column(at, name, table[name].dictionary_encode())
    return table
