"""BM25 search over one shard, or many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, PositiveInt

from rayeval.columns import Floats, combined, top_hits
from rayeval.retrieve.filter import Filter, Visibility
from rayeval.retrieve.lexical.analyzers import Analyzer, UnicodeWords, build
from rayeval.retrieve.lexical.index import Corpus, Index, leading
from rayeval.retrieve.merge import merge_found
from rayeval.stage import Shard, Stage, StageConfig
from rayeval.tables import FOUND, TEXT


class Bm25(StageConfig):
    """Search by shared terms, weighed by how rare they are and how often they occur."""

    kind: Literal["bm25"] = "bm25"
    analyzer: Analyzer = Field(UnicodeWords(), description="what counts as the same word")
    k1: float = Field(1.2, ge=0, allow_inf_nan=False, description="how slowly repeats saturate")
    b: float = Field(0.75, ge=0, le=1, description="how much length counts: 0 not, 1 fully")
    depth: PositiveInt = Field(100, description="chunks kept per question")


class Loaded:
    """A shard's index and filter."""

    def __init__(self, config: Bm25, filtering: Filter, shard: Shard) -> None:
        self.depth = config.depth
        self.analysis = build(config.analyzer)
        corpus = Corpus(shard.table("statistics"))
        self.index = Index(shard.tables("terms"), corpus, k1=config.k1, b=config.b)
        self.visibility = Visibility.of(filtering, shard, self.index.chunk_ids)

    def blocks(self, batch: pa.Table) -> Iterator[tuple[int, Floats]]:
        """`Index.scores` of the batch's questions."""
        return self.index.scores(self.analysis.terms(combined(batch["question"])))

    def visible(self, batch: pa.Table) -> Iterator[tuple[int, Floats]]:
        """`blocks`, with 0 for what the asker may not find."""
        group, masks = self.visibility.groups(batch["principals"])
        for first, scores in self.blocks(batch):
            here = group[first : first + len(scores)]
            for number, mask in enumerate(masks):
                if mask is not None:
                    scores[here == number] *= mask
            yield first, scores


class Bm25Search:
    """The best chunks of every question: `question, principals` → FOUND, a scatter over chunks.

    A chunk that shares no term with the question is never a hit. The filter applies before the
    depth is filled.
    """

    def __init__(self, config: Bm25, filtering: Filter) -> None:
        self.config = config
        self.filtering = filtering

    def load(self, shard: Shard) -> Stage:
        """Needs `terms`, `statistics` and, to filter, `chunks` and `catalogue`."""
        return _Search(self.config, self.filtering, shard)

    def gather(self, parts: Sequence[pa.Table]) -> pa.Table:
        """The best of all shards."""
        return merge_found(parts, self.config.depth)


class _Search(Loaded):
    def __call__(self, batch: pa.Table) -> pa.Table:
        found = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]
        for first, scores in self.visible(batch):
            row, chunk = leading(scores, self.depth)
            found.append((row + first, chunk, scores[row, chunk]))
        rows, chunks, scores = (np.concatenate(part) for part in zip(*found, strict=True))
        ids = self.index.chunk_ids.take(pa.array(chunks))
        hits = top_hits(rows, ids, scores, batch.num_rows, self.depth)
        errors = pa.nulls(batch.num_rows, TEXT)
        return pa.table([batch["question_id"], hits, errors], schema=FOUND)
