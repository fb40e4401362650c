"""One stop of the walk, and what is lost there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rayeval.columns import Ints
from rayeval.metrics.failure.scene import Scene
from rayeval.metrics.spans import Bools


@dataclass(frozen=True)
class Step:
    """One stop of the walk."""

    stage: str
    observed: Bools
    """(n_rows,): the trace shows what came out of it."""
    lost: Bools
    """(n_groups,): needed, and did not come out, where that is observed."""
    code: Ints
    """(n_groups,): what losing each of them here is called."""
    error: Bools
    """(n_rows,): it failed."""
    missing: Bools
    """(n_rows,): it has no row, and nothing explains why."""
    decides: bool
    """A loss here is a failure; in one arm of several it is not."""
    listed: Bools
    """(n_groups,): the hits that it hands on hold it, so that no earlier step can have lost it."""


def step(
    scene: Scene,
    stage: str,
    *,
    held: Bools,
    observed: Bools,
    code: int | Ints,
    error: Bools | bool = False,
    missing: Bools | bool = False,
    decides: bool = True,
    lists: bool = True,
) -> Step:
    """A stop that holds some groups, (n_groups,), and loses the other ones that have gold.

    lists: what it holds are hits that go on.
    """
    shown = scene.groups.gold & observed[scene.groups.row]
    lost, listed = shown & ~held, shown & held & (decides and lists)
    rows = np.zeros(scene.n_rows, bool)
    codes = np.broadcast_to(np.asarray(code, np.int64), lost.shape)
    return Step(stage, observed, lost, codes, rows | error, rows | missing, decides, listed)
