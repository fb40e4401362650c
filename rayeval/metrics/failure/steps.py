"""The stops of the walk from documents to context (DESIGN §6)."""

from __future__ import annotations

import numpy as np

from rayeval.columns import Ints
from rayeval.metrics.failure import codes
from rayeval.metrics.failure.aspects import uncovered
from rayeval.metrics.failure.corpus import corpus_steps
from rayeval.metrics.failure.scene import Scene
from rayeval.metrics.failure.step import Step, step
from rayeval.metrics.pipeline import ERROR, MISSING, OK

RETRIEVE = "retrieve"
"""All arms together."""


def steps(scene: Scene, missed: Ints) -> list[Step]:
    """Every stop, in order.

    missed: (n_groups,), the code of a group that all arms miss.
    """
    pipeline = scene.pipeline
    found = corpus_steps(scene)
    for arm in pipeline.arms:
        found += [_stage(scene, s, 0, goes_on=s == arm.output, decides=False) for s in arm.stages]
    if pipeline.arms:
        found.append(_retrieve(scene, missed))
    for number, later in enumerate(pipeline.later):
        code = codes.DEMOTED[later.kind]
        if number == 0 and not pipeline.arms:
            code = codes.MISSED  # nothing shows that it was ever given what it lacks
        found.append(_stage(scene, later.name, code))
        if later.kind == "context":
            found.append(_aspects(scene, later.name))
    return found


def _stage(
    scene: Scene, stage: str, code: int, *, goes_on: bool = True, decides: bool = True
) -> Step:
    """What one stage found. A failure of one that doesn't go on explains nothing."""
    outcome = scene.outcome[stage]
    return step(
        scene,
        stage,
        held=scene.held(stage),
        observed=outcome == OK,
        code=code,
        error=(outcome == ERROR) & goes_on,
        missing=(outcome == MISSING) & goes_on,
        decides=decides,
    )


def _retrieve(scene: Scene, missed: Ints) -> Step:
    """What the arms found together."""
    outputs = [arm.output for arm in scene.pipeline.arms]
    observed = np.all([scene.outcome[stage] == OK for stage in outputs], axis=0)
    return step(scene, RETRIEVE, held=scene.held(*outputs), observed=observed, code=missed)


def _aspects(scene: Scene, context: str) -> Step:
    """Required aspects that the context lacks, though it kept every group."""
    observed = scene.outcome[context] == OK
    lost = uncovered(scene, context) & observed[scene.groups.row]
    nothing = np.zeros(scene.n_rows, bool)
    code = np.full(len(lost), codes.UNCOVERED)
    return Step(
        context,
        observed,
        lost,
        code,
        error=nothing,
        missing=nothing,
        decides=True,
        listed=np.zeros(len(lost), bool),
    )
