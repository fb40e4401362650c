"""The steps that give a run's tables: metrics per question, first failures, aggregates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

import pyarrow as pa

from rayeval import registry
from rayeval.execution.config import stage_names
from rayeval.execution.plan.arm import Arm
from rayeval.execution.plan.builder import Builder, columns, found, per_question
from rayeval.execution.plan.gold import GoldSteps
from rayeval.execution.plan.missed import MissedSteps
from rayeval.execution.step import Column, Step
from rayeval.metrics import pipeline as pipelines
from rayeval.metrics.failure.first_failure import FAILURES
from rayeval.metrics.per_query import PerQuery
from rayeval.metrics.pipeline import Later, Pipeline
from rayeval.metrics.totals import AGGREGATE, SLICES
from rayeval.retrieve.dense.config import Dense
from rayeval.retrieve.foreign.config import HttpArm, PythonArm
from rayeval.retrieve.lexical.bm25 import Bm25

LATER = {
    "fused": Later("fused", "fuse"),
    "reranked": Later("reranked", "rerank"),
    "context": Later("context", "context"),
}
RECALL = {"index_recall": pa.float64(), "lost_gold": pa.int64(), "lost_harmless": pa.int64()}


def described(arms: Sequence[Arm], later: Sequence[str]) -> Pipeline:
    """The pipeline as metrics and first failures know it."""
    return Pipeline(
        tuple(kind_of(arm.name, arm.config) for arm in arms), tuple(LATER[name] for name in later)
    )


def kind_of(name: str, config: Bm25 | Dense | HttpArm | PythonArm) -> pipelines.Arm:
    """An arm as metrics and first failures know it, by its configuration."""
    if isinstance(config, Dense):
        sampled = config.ann is not None and config.exact_sample is not None
        names = [*stage_names({name: config}), None]
        return pipelines.Arm(name, "dense", config.depth, str(names[0]), names[1], sampled)
    kind: Literal["lexical", "unknown"] = "lexical" if isinstance(config, Bm25) else "unknown"
    return pipelines.Arm(name, kind, config.depth, name)


def walked(
    hits: Mapping[str, Step], gold: GoldSteps, passages: Step, resolved: Step
) -> tuple[Column, ...]:
    """What the walk over stages reads, but for what is known of missed gold."""
    of_question = ("question_id", "answerable", "labels", "evidence", "required_aspects")
    return (
        *columns(resolved, *of_question),
        *columns(gold.chunks, "gold_chunks"),
        *columns(gold.filter, "removed_gold"),
        *columns(passages, "passages"),
        *found(hits),
    )


def judge_steps(
    builder: Builder,
    pipeline: Pipeline,
    arms: Sequence[Arm],
    batch: tuple[Column, ...],
    missed: MissedSteps,
    resolved: Step,
    gold: GoldSteps,
) -> dict[str, Step]:
    """File name → the step whose output is that table."""
    metrics = builder.config.metrics
    recalls = {a.onward[0]: _recall(builder, a, gold, resolved) for a in arms if len(a.stages) > 1}
    extras = {stage: {name: f"{stage}:{name}" for name in RECALL} for stage in recalls}
    numbers = PerQuery(metrics, pipeline, extras)
    merged = [
        Column(step.key, name, f"{stage}:{name}")
        for stage, step in recalls.items()
        for name in RECALL
    ]
    per_query = builder.add(
        Step(
            name="per_query",
            kind="map",
            identity={**metrics.identity(), "pipeline": repr(pipeline)},
            make=partial(registry.per_query, metrics, pipeline, extras),
            schema=numbers.schema,
            batch=(*batch, *merged),
            aligned=False,
            tolerant=True,
        )
    )
    failures = builder.add(
        Step(
            name="failures",
            kind="map",
            identity={"step": "failures/2", "full": metrics.full, "pipeline": repr(pipeline)},
            make=partial(registry.first_failure, pipeline, metrics.full),
            schema=FAILURES,
            batch=(*batch, *missed.batch()),
            aligned=False,
            tolerant=True,
        )
    )
    totals = {
        name: builder.add(
            Step(
                name=name,
                kind="produce",
                identity={"step": name, "measured": numbers.measured},
                make=partial(registry.totals, numbers.measured, name),
                schema=schema,
                sharded={"per_query": per_query.key, "questions": resolved.key},
            )
        )
        for name, schema in (("aggregate", AGGREGATE), ("slices", SLICES))
    }
    return {
        f"{name}.parquet": step
        for name, step in {"per_query": per_query, "failures": failures, **totals}.items()
    }


def _recall(builder: Builder, arm: Arm, gold: GoldSteps, resolved: Step) -> Step:
    """What an arm's ANN lost of its exact search."""
    exact, approximate = arm.stages
    return builder.add(
        Step(
            name=f"index_recall:{arm.name}",
            kind="map",
            identity={"step": "index_recall", "depth": arm.config.depth},
            make=partial(registry.index_recall, exact, approximate, arm.config.depth),
            schema=per_question(**RECALL),
            batch=(
                *columns(resolved, "question_id"),
                *found(arm.stages),
                *columns(gold.chunks, "gold_chunks"),
            ),
        )
    )
