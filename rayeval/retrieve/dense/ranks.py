"""Where chosen chunks stand in an exact search, at whatever depth.

Two scatters: the scores of chosen chunks, which their shard alone knows, then how many chunks come
before each, which all shards add up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pyarrow as pa

from rayeval.columns import Floats, Ints, flatten, lists
from rayeval.retrieve.dense.exact import rounding
from rayeval.retrieve.dense.store import Mask, Store, hit_array
from rayeval.retrieve.dense.vectors import Vectors, pair_scores
from rayeval.retrieve.filter import Filter
from rayeval.retrieve.merge import add_outranked, merge_scores, scored
from rayeval.stage import Shard, Stage

SCORES = 1 << 22
"""Scores held at once."""


class ExactScores:
    """The exact scores of chosen chunks, filtered out or not: a scatter over vectors.

    Batch: `vector`, `wanted` (list of chunk ids). Result: `scores`, a list of HIT per question by
    chunk_id, of the wanted chunks that have a vector.
    """

    def load(self, shard: Shard) -> Stage:
        """Needs `vectors`."""
        return _Scores(Store(shard, Filter()))

    def gather(self, parts: Sequence[pa.Table]) -> pa.Table:
        """Every shard's scores, by chunk_id."""
        return merge_scores(parts)


class _Scores:
    def __init__(self, store: Store) -> None:
        self.store = store

    def __call__(self, batch: pa.Table) -> pa.Table:
        asked, queries = self.store.queries(batch)
        rows, wanted = flatten(batch["wanted"])
        here, places = self.store.places(wanted)
        known = np.isin(rows[here], asked)
        rows, places = rows[here][known], places[known]
        scores = pair_scores(queries, np.searchsorted(asked, rows), self.store.vectors, places)
        hits = hit_array(self.store.chunk_ids.take(pa.array(places)), scores)
        return scored(rows, hits, batch.num_rows)


class ExactRanks:
    """How many chunks stand before chosen ones: a scatter over vectors.

    Batch: `vector`, `scores` (as from ExactScores), and `principals` where the filter asks.
    Result: `outranked_by`, a list of int64 beside `scores`: how many visible chunks come first by
    (-exact score, chunk_id); a chunk's rank is one more.
    """

    def __init__(self, filtering: Filter) -> None:
        self.filtering = filtering

    def load(self, shard: Shard) -> Stage:
        """Needs `vectors` and, to filter, `chunks` and `catalogue`."""
        return _Ranks(Store(shard, self.filtering))

    def gather(self, parts: Sequence[pa.Table]) -> pa.Table:
        """The shards' counts added up."""
        return add_outranked(parts)


class _Ranks:
    def __init__(self, store: Store) -> None:
        self.store = store

    def __call__(self, batch: pa.Table) -> pa.Table:
        asked, queries = self.store.queries(batch)
        rows, hits = flatten(batch["scores"])
        values = hits.field("score").to_numpy()
        ids = pl.Series(self.store.chunk_ids)
        places = ids.search_sorted(pl.Series(hits.field("chunk_id"))).to_numpy().astype(np.int64)
        counts = np.zeros(len(rows), np.int64)
        for members, visible in self.store.groups(batch, asked):
            mine = np.flatnonzero(np.isin(rows, asked[members]))
            if len(mine):
                counts[mine] = outranking(
                    self.store,
                    queries[members],
                    np.searchsorted(asked[members], rows[mine]),
                    values=values[mine],
                    places=places[mine],
                    visible=visible,
                )
        return pa.table({"outranked_by": lists(rows, pa.array(counts), batch.num_rows)})


def outranking(
    store: Store,
    queries: Vectors,
    owners: Ints,
    *,
    values: Floats,
    places: Ints,
    visible: Mask | None,
) -> Ints:
    """How many visible rows of `store` come before something with a score and a place.

    owners, values, places: (n,), the query, exact score, and row where its id would stand. A
    float32 scan decides all rows but those within its rounding of `values`: these are recomputed.
    """
    counts = np.zeros(len(owners), np.int64)
    bound = rounding(queries, store.longest)[owners, None]
    for rows in store.blocks(visible, max(1, SCORES // max(len(queries), len(owners)))):
        gap = (queries @ store.vectors[rows].T)[owners] - values[:, None]
        counts += (gap > bound).sum(axis=1)
        pair, near = np.nonzero(np.abs(gap) <= bound)
        score = pair_scores(queries, owners[pair], store.vectors, rows[near])
        tied = (score == values[pair]) & (rows[near] < places[pair])
        counts += np.bincount(pair[(score > values[pair]) | tied], minlength=len(owners))
    return counts
