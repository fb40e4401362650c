"""The step that reads what a trace answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rayeval import registry
from rayeval.execution.plan.answer import answer_rows_step
from rayeval.execution.plan.builder import Builder, columns, found
from rayeval.execution.plan.judge import judging_steps
from rayeval.execution.score.config import ScoreConfig
from rayeval.execution.score.inputs import ScoreInputs
from rayeval.execution.score.verdicts import ToldJudge, told_steps
from rayeval.execution.step import Column, Step
from rayeval.registry.scoring import READ, Scoring
from rayeval.registry.told import TOLD


def reading(config: ScoreConfig, inputs: ScoreInputs, scoring: Scoring) -> dict[str, Any]:
    """What decides which hits a question has, and what they are called."""
    return {
        "trace": inputs.trace_sha256,
        "chunks": inputs.chunks_sha256,
        "metrics": scoring.metrics.identity(),
        "pipeline": repr(scoring.pipeline),
        "any_order": scoring.any_order,
        "depth": scoring.depth,
        "handed": scoring.handed,
        "tokenizer": config.tokenizer.identity(),
    }


def answers_step(
    config: ScoreConfig,
    inputs: ScoreInputs,
    scoring: Scoring,
    resolved: Step,
    whole: Mapping[str, str],
) -> Step:
    """What the trace answers, and what that was handed."""
    return Step(
        name="answers",
        kind="map",
        identity={
            "step": "told",
            "v": 3,
            "refusals": scoring.refusals,
            **reading(config, inputs, scoring),
        },
        make=partial(registry.told, scoring, config.tokenizer, config.corpus is not None),
        schema=TOLD,
        batch=columns(resolved, *READ),
        whole=whole,
        tolerant=True,
        fallible=True,
    )


@dataclass(frozen=True)
class Answered:
    """What the rest of a score reads of a trace's answers; nothing where it has none."""

    columns: tuple[Column, ...] = ()
    tables: Mapping[str, Step] = field(default_factory=dict)
    """File name → the step whose output is that table."""


def answered(
    builder: Builder,
    config: ScoreConfig,
    answers: Step,
    resolved: Step,
    judge: ToldJudge | None,
) -> Answered:
    """The answers, and what a judge makes of them where there is one.

    judge: whose verdicts came with the trace; they are of no use where the configuration has one.
    """
    said = found({"answers": answers}, column="answers")
    rows = answer_rows_step(builder, {"answer": "answers"}, 1, resolved, said)
    tables = {"answers.parquet": rows}
    shown = (*said, *columns(answers, "texts"))
    if config.judge is not None:
        judging = judging_steps(builder, config.judge, resolved, shown)
    elif judge is not None:
        judging = told_steps(builder, judge, resolved, shown)
    else:
        return Answered(said, tables)
    tables |= judging.tables
    return Answered((*said, *judging.columns), tables)
