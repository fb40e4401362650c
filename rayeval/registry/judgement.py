"""Metrics, first failures, means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from rayeval.metrics.answers.refusals import Refusals
from rayeval.metrics.answers.scores import Separation, TopScores
from rayeval.metrics.answers.spread import spread as spread_of
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


def per_answer(config: Metrics, pipeline: Pipeline, shard: Shard) -> Stage:
    """A row per (question, variant, repeat)."""
    return PerQuery(config, pipeline).answers


def top_scores(stages: Sequence[str], shard: Shard) -> Stage:
    """The best hit's score at every stage."""
    return TopScores(stages)


def first_failure(pipeline: Pipeline, full: float, shard: Shard) -> Stage:
    """A row per answerable question."""
    return FirstFailure(pipeline, full=full)


def totals(measured: Mapping[str, Sequence[str]], table: str, shard: Shard) -> Produced:
    """`aggregate` or `slices` of all questions."""
    found = Totals(measured)
    for numbers, asked in zip(shard.tables("per_query"), shard.tables("questions"), strict=True):
        found.add(numbers, asked)
    yield found.aggregate() if table == "aggregate" else found.slices(), ()


def refusals(shard: Shard) -> Produced:
    """How many answers were given and refused."""
    found = Refusals()
    for answers, asked in zip(shard.tables("answers"), shard.tables("questions"), strict=True):
        found.add(answers, asked)
    yield found.table(), ()


def spread(shard: Shard) -> Produced:
    """How far the answers to one question differ."""
    yield spread_of(pa.concat_tables(shard.tables("answers"))), ()


def separation(
    stages: Sequence[str], handed: str | None, answered: bool, table: str, shard: Shard
) -> Produced:
    """`thresholds` or `risk_coverage` of all questions. answered: there are answers too."""
    found = Separation(stages, handed)
    names = ("scores", "failures", "questions", *(("answers",) if answered else ()))
    for scores, failures, asked, *answers in zip(*map(shard.tables, names), strict=True):
        found.add(scores, failures, asked, answers[0] if answers else None)
    yield found.thresholds() if table == "thresholds" else found.curves(), ()
