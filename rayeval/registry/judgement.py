"""Metrics, first failures, means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rayeval.metrics.config import Metrics
from rayeval.metrics.failure.first_failure import FirstFailure
from rayeval.metrics.failure.missed import Missed
from rayeval.metrics.per_query import Extras, PerQuery
from rayeval.metrics.pipeline import Pipeline
from rayeval.metrics.totals import Totals
from rayeval.registry.produced import Produced
from rayeval.retrieve.dense.recall import IndexRecall
from rayeval.stage import Shard, Stage


def missed(pipeline: Pipeline, full: float, shard: Shard) -> Stage:
    """The chunks that hold gold which no arm found."""
    return Missed(pipeline, full=full)


def index_recall(exact: str, approximate: str, depth: int, shard: Shard) -> Stage:
    """What an approximate search lost of the exact one."""
    return IndexRecall(exact, approximate, depth=depth)


def per_query(config: Metrics, pipeline: Pipeline, extras: Extras, shard: Shard) -> Stage:
    """A row per (question, stage)."""
    return PerQuery(config, pipeline, extras)


def first_failure(pipeline: Pipeline, full: float, shard: Shard) -> Stage:
    """A row per answerable question."""
    return FirstFailure(pipeline, full=full)


def totals(measured: Mapping[str, Sequence[str]], table: str, shard: Shard) -> Produced:
    """`aggregate` or `slices` of all questions."""
    found = Totals(measured)
    for numbers, asked in zip(shard.tables("per_query"), shard.tables("questions"), strict=True):
        found.add(numbers, asked)
    yield found.aggregate() if table == "aggregate" else found.slices(), ()
