"""A row for every answerable question: how it ended, and where it first failed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Ints, combined, lists
from rayeval.metrics.failure import codes
from rayeval.metrics.failure.answered import STAGE, answered, with_answers
from rayeval.metrics.failure.arms import Blame, blame
from rayeval.metrics.failure.losses import CONTRIBUTING, Losses, contributing, losses
from rayeval.metrics.failure.scene import Scene
from rayeval.metrics.failure.step import Step
from rayeval.metrics.failure.steps import RETRIEVE, steps
from rayeval.metrics.failure.walk import STATUSES, SUCCESS, Walk, walk
from rayeval.metrics.per_query import by_question
from rayeval.metrics.pipeline import Pipeline
from rayeval.tables import TEXT, TEXTS, UNLABELLED

FAILURES = pa.schema(
    [
        ("question_id", TEXT),
        ("status", TEXT),
        ("code", TEXT),
        ("stage", TEXT),
        ("group_id", TEXT),
        ("contributing", CONTRIBUTING),
        ("observed_stages", TEXTS),
        ("reached_stages", TEXTS),
    ]
)
"""`stage`: where the walk ended, null of a success. `reached_stages`: of the observed ones, those
where all groups are whole or carried as split; their shares are the stages' upper bounds."""


class FirstFailure:
    """Walks every answerable question from its documents to its answer (DESIGN §6).

    Batch: as for `PerQuery`, and `required_aspects`; what is null or absent of the following is not
    observed: `gold_chunks` (lists of PLACE: every chunk of the corpus that overlaps gold),
    `removed_gold` (ids of those that the filter removes), and of every arm `scores:ARM` (lists of
    HIT: the chunks that `Missed` asked for), `ranks:ARM` (aligned with it: their ranks, from 1) and
    `severed:ARM` (ids of those whose subject was cut off).
    Result: FAILURES, sorted by question id; unanswerable questions have no row, nor have those
    whose evidence nobody has looked for yet.
    """

    def __init__(self, pipeline: Pipeline, *, full: float) -> None:
        self.pipeline, self.full = pipeline, full

    def __call__(self, batch: pa.Table) -> pa.Table:
        """A row per answerable question."""
        batch = by_question(batch.filter(known(batch)))
        scene = Scene(batch, self.pipeline, full=self.full)
        blamed = blame(scene)
        every = steps(scene, blamed.code)
        end = walk(every, scene.groups.row, scene.observed("gold_chunks"))
        lost = losses(scene, every, end)
        columns = {
            "question_id": batch["question_id"],
            "status": pa.array(STATUSES, TEXT).take(pa.array(end.status)),
            **_failure(scene, every, end, lost, blamed),
            "contributing": contributing(scene, every, end, lost, blamed.misses),
            **_seen(scene, every),
        }
        if STAGE in self.pipeline.answers:
            found = answered(batch, self.pipeline, full=self.full)
            columns = with_answers(columns, end.status, found)
        return pa.table(columns).cast(FAILURES)


def known(batch: pa.Table) -> pa.Array:
    """(n_questions,): it is answerable, and its evidence is known."""
    labelled = pc.not_equal(combined(batch["labels"]), UNLABELLED)
    answerable = pc.fill_null(combined(batch["answerable"]), True)
    return pc.and_(answerable, pc.fill_null(labelled, True))


def _failure(
    scene: Scene, every: Sequence[Step], end: Walk, lost: Losses, blamed: Blame
) -> dict[str, pa.Array]:
    """The code, stage and group of every question; of one that failed, those of its first loss."""
    names = [step.stage for step in every]
    code, group = np.full(scene.n_rows, -1), np.full(scene.n_rows, -1)
    stage = np.where(end.status == SUCCESS, -1, end.end)
    first, split = lost.group[lost.first], lost.split[lost.first]
    row = scene.groups.row[first]
    group[row] = first
    code[row] = np.where(split, codes.SPLIT, lost.code[lost.first])
    stage[row] = np.where(split, names.index("chunk"), stage[row])
    if RETRIEVE in names:
        output = np.array([names.index(miss.arm.output) for miss in blamed.misses])
        everywhere = stage[row] == names.index(RETRIEVE)
        stage[row] = np.where(everywhere, output[blamed.arm[first]], stage[row])
    return {
        "code": _taken(pa.array(codes.CODES, TEXT), code),
        "stage": _taken(pa.array(names, TEXT), stage),
        "group_id": _taken(scene.groups.group_id, group),
    }


def _seen(scene: Scene, every: Sequence[Step]) -> dict[str, pa.Array]:
    """The observed stages of every question, and those that it reached with all its groups."""
    stages = {step.stage: step for step in reversed(every)}  # aspects come second in `context`
    shown = [stages[name] for name in dict.fromkeys(step.stage for step in every)]
    names = pa.array([step.stage for step in shown], TEXT)
    observed = np.stack([step.observed for step in shown], axis=1)
    lost = [np.bincount(scene.groups.row[s.lost], minlength=scene.n_rows) > 0 for s in shown]
    reached = observed & ~np.stack(lost, axis=1)
    result = {}
    for name, flags in (("observed_stages", observed), ("reached_stages", reached)):
        row, number = np.nonzero(flags)
        result[name] = lists(row, names.take(pa.array(number)), scene.n_rows)
    return result


def _taken(values: pa.Array, index: Ints) -> pa.Array:
    """`values` at each index, null where that is -1."""
    return values.take(pa.array(index, mask=index < 0))
