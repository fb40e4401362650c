"""Where chosen chunks stand in a BM25 search: their scores first, then their ranks.

The score of a chunk is known to its shard alone; how many chunks come before it, every shard adds
up. So ranks beyond any depth take two scatters and no list longer than what was chosen.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Floats, Ints, flatten, lists
from rayeval.retrieve.filter import Filter
from rayeval.retrieve.lexical.bm25 import Bm25, Loaded
from rayeval.retrieve.merge import add_outranked, merge_scores, scored
from rayeval.stage import Shard, Stage
from rayeval.tables import HIT


class Bm25Scores:
    """The scores of chosen chunks, filtered out or not: a scatter over chunks.

    Batch: `question, wanted` (list of chunk ids). Result: `scores`, a list of HIT per
    question by chunk_id, of the wanted chunks that score above 0.
    """

    def __init__(self, config: Bm25) -> None:
        self.config = config

    def load(self, shard: Shard) -> Stage:
        """Needs `terms` and `statistics`."""
        return _Scores(self.config, Filter(), shard)

    def gather(self, parts: Sequence[pa.Table]) -> pa.Table:
        """Every shard's scores, by chunk_id."""
        return merge_scores(parts)


class _Scores(Loaded):
    def __call__(self, batch: pa.Table) -> pa.Table:
        rows, wanted = flatten(batch["wanted"])
        places = pc.index_in(wanted, value_set=self.index.chunk_ids)
        owned = places.is_valid().to_numpy(zero_copy_only=False)
        rows, chunks = rows[owned], places.drop_null().to_numpy()
        values = np.zeros(len(rows))
        for first, scores in self.blocks(batch):
            here = slice(*np.searchsorted(rows, [first, first + len(scores)]))
            values[here] = scores[rows[here] - first, chunks[here]]
        shared = values > 0
        ids = self.index.chunk_ids.take(pa.array(chunks[shared]))
        hits = pa.StructArray.from_arrays([ids, pa.array(values[shared])], fields=list(HIT))
        return scored(rows[shared], hits, batch.num_rows)


class Bm25Ranks:
    """How many chunks stand before chosen ones: a scatter over chunks.

    Batch: `question, principals, scores` (as from Bm25Scores). Result: `outranked_by`, a list of
    int64 beside `scores`: how many visible chunks come first by (-score, chunk_id); a chunk's rank
    is one more.
    """

    def __init__(self, config: Bm25, filtering: Filter) -> None:
        self.config = config
        self.filtering = filtering

    def load(self, shard: Shard) -> Stage:
        """Needs `terms`, `statistics` and, to filter, `chunks` and `catalogue`."""
        return _Ranks(self.config, self.filtering, shard)

    def gather(self, parts: Sequence[pa.Table]) -> pa.Table:
        """The shards' counts added up."""
        return add_outranked(parts)


class _Ranks(Loaded):
    def __call__(self, batch: pa.Table) -> pa.Table:
        rows, hits = flatten(batch["scores"])
        values = hits.field("score").to_numpy()
        ids = pl.Series(self.index.chunk_ids)
        places = ids.search_sorted(pl.Series(hits.field("chunk_id"))).to_numpy()
        counts = np.zeros(len(rows), np.int64)
        for first, scores in self.visible(batch):
            start, end = np.searchsorted(rows, [first, first + len(scores)])
            for part in range(start, end, len(scores)):  # as many at once as the block has rows
                some = slice(part, min(part + len(scores), end))
                counts[some] = _before(scores[rows[some] - first], values[some], places[some])
        return pa.table({"outranked_by": lists(rows, pa.array(counts), batch.num_rows)})


def _before(scores: Floats, values: Floats, places: Ints) -> Ints:
    """(n,): how many columns of its row of `scores` come before a `value` that stands at `place`.

    scores: (n, n_chunks), by chunk_id.
    """
    better = (scores > values[:, None]).sum(axis=1)
    tied = (scores == values[:, None]) & (np.arange(scores.shape[1]) < places[:, None])
    counts: Ints = better + tied.sum(axis=1)
    return counts
