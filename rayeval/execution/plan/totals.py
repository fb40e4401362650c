"""The steps that look at all questions: means, slices, refusals, thresholds, spread."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

from rayeval import registry
from rayeval.execution.plan.builder import Builder
from rayeval.execution.step import Step
from rayeval.metrics.answers.refusals import ABSTENTION
from rayeval.metrics.answers.scores import CURVES, THRESHOLDS
from rayeval.metrics.answers.spread import SPREAD
from rayeval.metrics.per_query import PerQuery
from rayeval.metrics.totals import AGGREGATE, SLICES


@dataclass(frozen=True)
class Numbered:
    """The steps with what is known of each question."""

    resolved: Step
    per_query: Step
    failures: Step
    scores: Step
    """Of the best hits."""
    per_answer: Step | None


def total_steps(builder: Builder, numbers: PerQuery, of: Numbered) -> dict[str, Step]:
    """File name → the step whose output is that table; those of single questions too."""
    pipeline, measured = numbers.pipeline, numbers.measured
    questions = {"questions": of.resolved.key}
    counted = {"per_query": of.per_query.key, **questions}
    parted = {"scores": of.scores.key, "failures": of.failures.key, **questions}
    answers = {} if of.per_answer is None else {"answers": of.per_answer.key}
    handed = pipeline.handed[0] if answers and len(pipeline.handed) == 1 else None
    parts = [str(stage) for stage in pipeline.stages]
    tables = {"per_query": of.per_query, "failures": of.failures}
    for name, schema in (("aggregate", AGGREGATE), ("slices", SLICES)):
        made = partial(registry.totals, measured, name)
        tables[name] = _whole(builder, name, made, schema, counted, measured=measured)
    for name, schema in (("thresholds", THRESHOLDS), ("risk_coverage", CURVES)):
        made = partial(registry.separation, parts, handed, bool(answers), name)
        told = {"v": 3, "stages": parts, "handed": handed}
        tables[name] = _whole(builder, name, made, schema, parted | answers, **told)
    if of.per_answer is not None:
        tables["per_answer"] = of.per_answer
        tables["abstention"] = _whole(
            builder, "abstention", registry.refusals, ABSTENTION, answers | questions
        )
        tables["spread"] = _whole(builder, "spread", registry.spread, SPREAD, answers, v=2)
    return {f"{name}.parquet": step for name, step in tables.items()}


def _whole(
    builder: Builder,
    name: str,
    make: Callable[..., Any],
    schema: pa.Schema,
    inputs: dict[str, str],
    **identity: Any,
) -> Step:
    return builder.add(
        Step(
            name=name,
            kind="produce",
            identity={"step": name, **identity},
            make=make,
            schema=schema,
            sharded=inputs,
        )
    )
