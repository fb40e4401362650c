"""The steps on what no arm found: its true ranks, and whether its subject was cut off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa

from rayeval import registry
from rayeval.chunk import lookup
from rayeval.chunk.neighbours import NEIGHBOUR
from rayeval.execution.plan.arm import Arm
from rayeval.execution.plan.builder import Builder, columns, found, per_question
from rayeval.execution.plan.corpus import CorpusSteps
from rayeval.execution.step import Column, Step
from rayeval.metrics.pipeline import Pipeline
from rayeval.retrieve.lexical.bm25 import Bm25
from rayeval.tables import HITS, TEXTS

NEIGHBOURS = pa.list_(NEIGHBOUR)


@dataclass(frozen=True)
class MissedSteps:
    """Per arm, what the walk wants to know of gold beyond depth."""

    scores: dict[str, Step] = field(default_factory=dict)
    ranks: dict[str, Step] = field(default_factory=dict)
    severed: dict[str, Step] = field(default_factory=dict)

    def batch(self) -> tuple[Column, ...]:
        """Columns `scores:ARM`, `ranks:ARM`, `severed:ARM`."""
        kinds = {"scores": self.scores, "ranks": self.ranks, "severed": self.severed}
        return tuple(
            Column(step.key, kind, f"{kind}:{arm}")
            for kind, steps in kinds.items()
            for arm, step in steps.items()
        )


def missed_steps(
    builder: Builder,
    pipeline: Pipeline,
    arms: Sequence[Arm],
    walked: tuple[Column, ...],
    corpus: CorpusSteps,
    resolved: Step,
) -> MissedSteps:
    """walked: the columns of the walk that are known so far."""
    full = builder.config.metrics.full
    wanted = builder.add(
        Step(
            name="missed",
            kind="map",
            identity={"step": "missed", "full": full, "pipeline": repr(pipeline)},
            make=partial(registry.missed, pipeline, full),
            schema=per_question(wanted=TEXTS),
            batch=walked,
            tolerant=True,
        )
    )
    neighbours = builder.add(
        Step(
            name="neighbours",
            kind="scatter",
            identity={"step": "neighbours", "v": 2},
            make=lookup.Neighbours,
            schema=per_question(neighbours=NEIGHBOURS),
            batch=columns(wanted, "question_id", "wanted", error="missed.error"),
            sharded={"chunks": corpus.chunks.key},
        )
    )
    steps = MissedSteps()
    for arm in arms:
        scores = _scores(builder, arm, wanted, resolved)
        steps.scores[arm.name] = scores
        steps.ranks[arm.name] = _ranks(builder, arm, scores, resolved)
        if isinstance(arm.config, Bm25):
            steps.severed[arm.name] = _severed(builder, arm, arm.config, neighbours, resolved)
    return steps


def _scores(builder: Builder, arm: Arm, wanted: Step, resolved: Step) -> Step:
    return builder.add(
        Step(
            name=f"scores:{arm.name}",
            kind="scatter",
            identity=arm.identity,
            make=partial(registry.scores, arm.config),
            schema=per_question(scores=HITS),
            batch=(*arm.asked(resolved), *columns(wanted, "wanted", error="missed.error")),
            sharded=arm.sharded,
            whole=arm.whole,
            model=arm.queries is not None,
        )
    )


def _ranks(builder: Builder, arm: Arm, scores: Step, resolved: Step) -> Step:
    filtering = builder.run.retrieve.filter
    return builder.add(
        Step(
            name=f"ranks:{arm.name}",
            kind="scatter",
            identity={**arm.identity, "filter": filtering.identity()},
            make=partial(registry.ranks, arm.config, filtering),
            schema=per_question(ranks=pa.list_(pa.int64())),
            batch=(
                *arm.asked(resolved),
                *columns(scores, "scores", error=f"scores:{arm.name}.error"),
            ),
            sharded=arm.sharded,
            whole=arm.whole,
            model=arm.queries is not None,
        )
    )


def _severed(builder: Builder, arm: Arm, config: Bm25, neighbours: Step, resolved: Step) -> Step:
    return builder.add(
        Step(
            name=f"severed:{arm.name}",
            kind="map",
            identity=arm.identity,
            make=partial(registry.severed, config, arm.name),
            schema=per_question(severed=TEXTS),
            batch=(
                *columns(resolved, "question_id", "question"),
                *found(arm.stages),
                *columns(neighbours, "neighbours", error="neighbours.error"),
            ),
            whole={"statistics": arm.whole["statistics"]},
        )
    )
