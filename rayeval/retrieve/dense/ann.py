"""Approximate search, in partitions that belong to the configuration.

An index gives other neighbours when it is cut otherwise, so its partitions are not those of the
corpus or of the workers: partition p of P holds the chunks whose id, read as a number, leaves p
when divided by P, in the order of their ids.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pyarrow as pa

from rayeval.columns import Ints, combined
from rayeval.errors import ConfigError, RunError
from rayeval.retrieve.dense.config import Ann, Dense
from rayeval.retrieve.dense.index import Index, build_index
from rayeval.retrieve.dense.store import Mask, Store, load_vectors
from rayeval.retrieve.dense.vectors import Vectors, pair_scores
from rayeval.retrieve.filter import Filter
from rayeval.retrieve.merge import merge_found
from rayeval.stage import Shard, Stage
from rayeval.tables import TEXTS

INDEX = pa.schema([("chunk_ids", TEXTS), ("index", pa.large_binary())])
"""One partition, one row. `index` null: no chunk of it has a vector."""


def in_partition(chunk_ids: pa.Array, number: int, count: int) -> Mask:
    """Which chunks belong to partition `number` of `count`: by the first 8 hex digits of the id."""
    if count == 1:
        return np.ones(len(chunk_ids), bool)
    ids = pl.Series(chunk_ids)
    leading = ids.str.slice(0, 8).str.to_integer(base=16, dtype=pl.Int64, strict=True)
    return (leading % count == number).to_numpy()


def build_ann(config: Ann, shard: Shard) -> pa.Table:
    """The index of partition `shard.number` of `shard.count`, as a table INDEX of one row.

    shard: its `vectors` must run through all chunks of the partition; others are passed over.
    Raises ConfigError if the partition holds too few vectors for such an index.
    """
    chunk_ids, vectors = load_vectors(
        shard, lambda ids: in_partition(ids, shard.number, shard.count)
    )
    data = build_index(vectors, config) if len(vectors) else None
    del vectors
    ids = pa.ListArray.from_arrays(pa.array([0, len(chunk_ids)], pa.int32()), chunk_ids)
    index = pa.nulls(1, pa.large_binary())
    if data is not None:
        ends = pa.py_buffer(np.array([0, len(data)], np.int64))
        index = pa.Array.from_buffers(pa.large_binary(), 1, [None, ends, pa.py_buffer(data)])
    return pa.table([ids.cast(TEXTS), index], schema=INDEX)


class AnnSearch:
    """The nearest chunks that an index finds for every question: a scatter over its partitions.

    Batch and result as in exact search, scores too: exact, of what the index found.
    """

    def __init__(self, config: Dense, filtering: Filter) -> None:
        if config.ann is None:
            raise ConfigError("approximate search needs `ann`, which this dense arm lacks")
        self.ann = config.ann
        self.depth = config.depth
        self.filtering = filtering

    def load(self, shard: Shard) -> Stage:
        """Needs `ann` (the INDEX of partition `shard.number` of `shard.count`) and `vectors`;
        to filter, `chunks` and `catalogue`. These may hold other partitions' chunks too."""
        store = Store(
            shard, self.filtering, own=lambda ids: in_partition(ids, shard.number, shard.count)
        )
        table = pa.concat_tables(shard.tables("ann"))
        if not combined(table["chunk_ids"]).flatten().equals(store.chunk_ids):
            raise RunError(
                f"the index of partition {shard.number} of {shard.count} is over other chunks than "
                f"there are vectors: both must come from the same run"
            )
        return _Ann(store, _index(self.ann, table, store), self.depth)

    def gather(self, parts: Sequence[pa.Table]) -> pa.Table:
        """The best of all partitions."""
        return merge_found(parts, self.depth)


def _index(config: Ann, table: pa.Table, store: Store) -> Index | None:
    """The index in `table`, over the vectors of `store`, which then share its memory."""
    data = combined(table["index"])[0]
    if not data.is_valid:
        return None
    index = Index(np.frombuffer(data.as_buffer(), np.uint8), store.vectors, config)
    store.vectors = index.vectors
    return index


class _Ann:
    def __init__(self, store: Store, index: Index | None, depth: int) -> None:
        self.store = store
        self.index = index
        self.depth = depth

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Raises RowError if a query vector isn't finite."""
        rows, queries = self.store.queries(batch)
        hits = [(rows[:0], rows[:0], np.empty(0))]
        for asked, visible in self.store.groups(batch, rows):
            found = self._nearest(queries[asked], visible)
            owners, columns = np.nonzero(found >= 0)  # -1 pads what an index could not fill
            places = found[owners, columns]
            scores = pair_scores(queries[asked], owners, self.store.vectors, places)
            order = np.lexsort((places, -scores, owners))
            hits.append((rows[asked][owners[order]], places[order], scores[order]))
        return self.store.found(batch, *(np.concatenate(part) for part in zip(*hits, strict=True)))

    def _nearest(self, queries: Vectors, visible: Mask | None) -> Ints:
        total = len(self.store.vectors) if visible is None else int(visible.sum())
        if self.index is None or total <= self.depth:  # all of them, in no need of an index
            every = np.arange(total) if visible is None else np.flatnonzero(visible)
            return np.tile(every, (len(queries), 1))
        return self.index.nearest(queries, self.depth, visible)
