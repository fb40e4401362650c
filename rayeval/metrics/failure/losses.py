"""What each walk lost in the end, and everything else that is known of it (DESIGN §6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa

from rayeval.columns import Ints, lists
from rayeval.metrics.failure import codes
from rayeval.metrics.failure.arms import Miss
from rayeval.metrics.failure.scene import Scene
from rayeval.metrics.failure.step import Step
from rayeval.metrics.failure.steps import RETRIEVE
from rayeval.metrics.failure.walk import Walk
from rayeval.metrics.ranking import NEVER
from rayeval.metrics.spans import Bools
from rayeval.tables import TEXT

CONTRIBUTING = pa.list_(
    pa.struct(
        [
            ("stage", TEXT),
            ("code", TEXT),
            ("rank", pa.int64()),
            ("depth", pa.int64()),
            ("group_id", TEXT),
        ]
    )
)


@dataclass(frozen=True)
class Losses:
    """The groups lost where their question's walk ended, in order; arrays (n_lost,)."""

    group: Ints
    step: Ints
    """Number of the step that lost it."""
    code: Ints
    """What losing it there is called."""
    split: Bools
    """It was only carried as split, so that chunking is to blame."""
    first: Bools
    """The first of its question: the failure."""


def losses(scene: Scene, steps: Sequence[Step], end: Walk) -> Losses:
    """Every group that was lost at the end of its question's walk."""
    group = np.flatnonzero(end.lost)
    row = scene.groups.row[group]
    step = end.end[row]
    code = np.stack([s.code for s in steps])[step, group]
    split = scene.split[group] & (step > _chunk(steps)) & (code != codes.UNCOVERED)
    first = np.append(True, row[1:] != row[:-1])[: len(row)]
    return Losses(group, step, code, split, first)


def contributing(
    scene: Scene, steps: Sequence[Step], end: Walk, lost: Losses, misses: Sequence[Miss]
) -> pa.Array:
    """CONTRIBUTING: split groups, what else was lost at the last step, and every arm's view.

    In order of groups; of one group that it is split, then its loss, then the arms.
    """
    parts = [_split(scene, steps, end, lost), _others(steps, lost)]
    parts += [_arm(steps, lost, miss, number) for number, miss in enumerate(misses)]
    entries = pl.concat(parts).sort("group", "order")
    group = entries["group"].to_numpy()
    stages = pa.array([step.stage for step in steps], TEXT)
    fields = [
        stages.take(entries["step"].to_arrow()),
        pa.array(codes.CODES, TEXT).take(entries["code"].to_arrow()),
        entries["rank"].to_arrow(),
        entries["depth"].to_arrow(),
        scene.groups.group_id.take(pa.array(group)),
    ]
    items = pa.StructArray.from_arrays(fields, fields=list(CONTRIBUTING.value_type))
    return lists(scene.groups.row[group], items, scene.n_rows)


def _split(scene: Scene, steps: Sequence[Step], end: Walk, lost: Losses) -> pl.DataFrame:
    """Groups that the walk carried past the chunks as split; not the failure itself."""
    carried = scene.split & (end.end > _chunk(steps))[scene.groups.row]
    carried[lost.group[lost.first & lost.split]] = False
    group = np.flatnonzero(carried)
    return _entries(group, order=0, step=_chunk(steps), code=codes.SPLIT)


def _others(steps: Sequence[Step], lost: Losses) -> pl.DataFrame:
    """Losses at one stage, but for the failure where that has the same name."""
    some = ~(lost.first & ~lost.split) & (lost.step != _retrieve(steps))
    return _entries(lost.group[some], order=1, step=lost.step[some], code=lost.code[some])


def _arm(steps: Sequence[Step], lost: Losses, miss: Miss, number: int) -> pl.DataFrame:
    """An arm's view of every group that all arms missed; of a split one only its rank."""
    some = lost.step == _retrieve(steps)
    group = lost.group[some]
    return _entries(
        group,
        order=2 + number,
        step=[step.stage for step in steps].index(miss.arm.output),
        code=np.where(lost.split[some], codes.SPLIT, miss.code[group]),
        rank=miss.rank[group],
        depth=miss.arm.depth,
    )


def _entries(
    group: Ints,
    *,
    order: int,
    step: Ints | int,
    code: Ints | int,
    rank: Ints | int = NEVER,
    depth: int | None = None,
) -> pl.DataFrame:
    columns = {"step": step, "code": code, "rank": rank}
    frame = pl.DataFrame(
        {"group": group, **{k: np.broadcast_to(v, group.shape) for k, v in columns.items()}},
        schema_overrides=dict.fromkeys(("group", *columns), pl.Int64),
    )
    return frame.with_columns(
        order=pl.lit(order, pl.Int64),
        depth=pl.lit(depth, pl.Int64),
        rank=pl.when(pl.col("rank") < NEVER).then(pl.col("rank")),
    )


def _chunk(steps: Sequence[Step]) -> int:
    return [step.stage for step in steps].index("chunk")


def _retrieve(steps: Sequence[Step]) -> int:
    """Number of the step at which all arms come together; -1 without arms."""
    stages = [step.stage for step in steps]
    return stages.index(RETRIEVE) if RETRIEVE in stages else -1
