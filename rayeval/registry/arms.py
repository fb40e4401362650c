"""The arms: what they search with, search, and say of what they missed."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import flatten, lists
from rayeval.registry.produced import Produced
from rayeval.retrieve.dense import ann, embed
from rayeval.retrieve.dense.config import Dense, Embedder, Side
from rayeval.retrieve.dense.exact import ExactSearch
from rayeval.retrieve.dense.ranks import ExactRanks, ExactScores
from rayeval.retrieve.filter import Filter
from rayeval.retrieve.lexical import terms
from rayeval.retrieve.lexical.analyzers import Analyzer
from rayeval.retrieve.lexical.bm25 import Bm25, Bm25Search
from rayeval.retrieve.lexical.ranks import Bm25Ranks, Bm25Scores
from rayeval.retrieve.lexical.severed import Severed
from rayeval.stage import Scatter, Shard, Stage


def term_counter(config: Analyzer, shard: Shard) -> Stage:
    """Chunks → their terms."""
    return terms.TermCounts(config)


def statistics(shard: Shard) -> Produced:
    """Terms of all chunks → the statistics of the corpus."""
    yield terms.statistics(shard.tables("terms")), ()


def embedder(config: Embedder, side: Side, shard: Shard) -> Stage:
    """Texts → vectors."""
    return embed.build_embedder(config, side)


def ann_index(config: Dense, shard: Shard) -> Produced:
    """The approximate index of partition `shard.number`."""
    if config.ann is not None:
        yield ann.build_ann(config.ann, shard), ()


def search(config: Bm25 | Dense, filtering: Filter) -> Scatter:
    """The arm's exact search."""
    match config:
        case Bm25():
            return Bm25Search(config, filtering)
        case Dense():
            return ExactSearch(config, filtering)


def scores(config: Bm25 | Dense) -> Scatter:
    """What wanted chunks score in the arm."""
    match config:
        case Bm25():
            return Bm25Scores(config)
        case Dense():
            return ExactScores()


def ranks(config: Bm25 | Dense, filtering: Filter) -> Scatter:
    """The true ranks of chunks with scores, in the arm."""
    match config:
        case Bm25():
            return _Ranks(Bm25Ranks(config, filtering))
        case Dense():
            return _Ranks(ExactRanks(filtering))


class _Ranks:
    """Ranks from 1, of counts of what stands before."""

    def __init__(self, counting: Scatter) -> None:
        self.counting = counting

    def load(self, shard: Shard) -> Stage:
        """As what it counts with."""
        return self.counting.load(shard)

    def gather(self, parts: Sequence[pa.Table]) -> pa.Table:
        """One more than stand before, in all shards together."""
        rows, before = flatten(self.counting.gather(parts)["outranked_by"])
        return pa.table({"ranks": lists(rows, pc.add(before, 1), parts[0].num_rows)})


def severed(config: Bm25, arm: str, shard: Shard) -> Stage:
    """Gold chunks whose subject was cut off, as the arm sees it."""
    return Severed(config, arm).load(shard)
