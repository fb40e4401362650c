"""The chunks of one shard, found by id or by place."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pyarrow as pa

from rayeval.columns import Ints, combined, flatten
from rayeval.stage import Shard
from rayeval.tables import CHUNKS, empty


class Owned:
    """Some columns of a shard's chunks, sorted by chunk_id once."""

    def __init__(self, shard: Shard, columns: Sequence[str]) -> None:
        parts = [table.select(columns) for table in shard.tables("chunks")]
        chunks = pa.concat_tables([*parts, empty(CHUNKS).select(columns)])
        self.table = chunks.sort_by("chunk_id").combine_chunks()
        self._ids = pl.Series(self.table["chunk_id"])

    def find(self, rows: Ints, ids: pa.Array) -> tuple[Ints, Ints]:
        """Which of the wanted chunks are here; what a row wants twice it gets once.

        rows, ids: (n_wanted,), the batch row and the chunk it wants.
        Returns (rows, places in `table`) of those found.
        """
        wanted = pl.DataFrame({"row": rows, "id": pl.Series(ids, dtype=pl.String)}).unique()
        places = self._ids.search_sorted(wanted["id"])
        near = wanted.with_columns(place=places).filter(pl.col("place") < len(self._ids))
        found = near.filter(self._ids.gather(near["place"]) == near["id"])
        return found["row"].to_numpy(), found["place"].cast(pl.Int64).to_numpy()

    def structs(self, places: Ints, type_: pa.StructType) -> pa.Array:
        """The chunks at `places` as structs of the columns that `type_` names."""
        taken = self.table.take(pa.array(places))
        arrays = [combined(taken[field.name]) for field in type_]
        return pa.StructArray.from_arrays(arrays, fields=list(type_))


class Places:
    """Where a shard's chunks lie in their sources, to be found by characters.

    chunks: with `source_id`, `revision_id` and `spans`.
    """

    def __init__(self, chunks: pa.Table) -> None:
        documents = pl.DataFrame(chunks.select(_DOCUMENT))
        self._documents = documents.unique(maintain_order=True).with_row_index("document")
        owner, spans = flatten(chunks["spans"])
        starts, ends = (np.asarray(field, np.int64) for field in spans.flatten())
        document = self._numbers(documents)[owner]
        order = np.lexsort((ends, starts, document))
        self._owner, self._ends = owner[order], ends[order]
        # A document's characters follow the last one's, so that one sorted array serves all.
        self._stride = int(ends.max(initial=0)) + 1
        offsets = document[order] * self._stride
        self._starts = offsets + starts[order]
        self._reach = np.maximum.accumulate(offsets + self._ends)

    def overlapping(self, table: pa.Table, starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
        """Which chunks share a character with each range.

        table: `source_id` and `revision_id` of each range; starts, ends: (n_ranges,).
        Returns (ranges, chunks) as row numbers, one pair for every span that overlaps.
        """
        document = self._numbers(pl.DataFrame(table.select(_DOCUMENT)))
        offset = document * self._stride
        low = np.searchsorted(self._reach, offset + np.minimum(starts, self._stride - 1), "right")
        high = np.searchsorted(self._starts, offset + np.minimum(ends, self._stride - 1))
        counts = np.where(document < 0, 0, np.maximum(high - low, 0))
        ranges = np.repeat(np.arange(len(starts)), counts)
        spans = np.arange(len(ranges)) + (low - np.cumsum(counts) + counts)[ranges]
        overlap = self._ends[spans] > starts[ranges]
        return ranges[overlap], self._owner[spans[overlap]]

    def _numbers(self, documents: pl.DataFrame) -> Ints:
        """The number of each document; -1 if none of its chunks is here."""
        joined = documents.join(self._documents, on=_DOCUMENT, how="left", maintain_order="left")
        return joined["document"].cast(pl.Int64).fill_null(-1).to_numpy()


_DOCUMENT = ["source_id", "revision_id"]
