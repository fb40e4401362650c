"""The steps that give a run's tables: metrics per question, first failures, aggregates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal

import pyarrow as pa

from rayeval import registry
from rayeval.execution.config import stage_names
from rayeval.execution.plan.arm import Arm
from rayeval.execution.plan.builder import Builder, columns, found, per_question
from rayeval.execution.plan.gold import GoldSteps
from rayeval.execution.plan.missed import MissedSteps
from rayeval.execution.plan.totals import Numbered, total_steps
from rayeval.execution.step import Column, Step
from rayeval.metrics import pipeline as pipelines
from rayeval.metrics.answers.scores import SCORES
from rayeval.metrics.failure.first_failure import FAILURES
from rayeval.metrics.per_query import PerQuery
from rayeval.metrics.pipeline import Later, Pipeline
from rayeval.retrieve.dense.config import Dense
from rayeval.retrieve.foreign.config import HttpArm, PythonArm
from rayeval.retrieve.lexical.bm25 import Bm25

LATER = {
    "fused": Later("fused", "fuse"),
    "reranked": Later("reranked", "rerank"),
    "context": Later("context", "context"),
}
FLAT = 4
"""Raised when the same batch gives other numbers or failures."""
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
    told = {"metrics": metrics.identity(), "pipeline": repr(pipeline)}
    every = (*batch, *merged)
    per_query = _flat("per_query", told, partial(registry.per_query, metrics, pipeline, extras),
                      numbers.schema, every)  # fmt: skip
    per_answer = None
    if pipeline.answers:
        made = partial(registry.per_answer, metrics, pipeline)
        per_answer = builder.add(_flat("per_answer", told, made, numbers.answers_schema, batch))
    walk = {"full": metrics.full, "pipeline": repr(pipeline)}
    failures = _flat("failures", walk, partial(registry.first_failure, pipeline, metrics.full),
                     FAILURES, (*batch, *missed.batch()))  # fmt: skip
    stages = pipeline.stages
    hits = tuple(c for c in batch if c.name in ("question_id", *stages))
    scores = _flat("top_scores", {"stages": list(stages)}, partial(registry.top_scores, stages),
                   SCORES, hits)  # fmt: skip
    per_query, failures, scores = map(builder.add, (per_query, failures, scores))
    return total_steps(
        builder, numbers, Numbered(resolved, per_query, failures, scores, per_answer)
    )


def _flat(
    name: str,
    identity: Mapping[str, Any],
    make: Callable[..., Any],
    schema: pa.Schema,
    batch: tuple[Column, ...],
) -> Step:
    """A step with rows of its own for every question, whatever failed before."""
    return Step(
        name=name,
        kind="map",
        identity={"step": name, "v": FLAT, **identity},
        make=make,
        schema=schema,
        batch=batch,
        aligned=False,
        tolerant=True,
    )


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
