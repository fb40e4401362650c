"""The walk: from stop to stop, until a group is lost or a stage failed (DESIGN §6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rayeval.columns import Ints
from rayeval.metrics.failure.step import Step
from rayeval.metrics.spans import Bools

SUCCESS, FAILED, ERROR, MISSING = range(4)
STATUSES = ("success", "failed", "error", "missing")


@dataclass(frozen=True)
class Walk:
    """Where every question's walk ended."""

    status: Ints
    """(n_rows,): codes of STATUSES."""
    end: Ints
    """(n_rows,): number of the step; the number of steps where all is well."""
    lost: Bools
    """(n_groups,): lost where its question's walk ended."""


def walk(steps: Sequence[Step], row: Ints, ours: Bools) -> Walk:
    """Stops each question at the first step that failed, is missing, or lost a group.

    row: (n_groups,), the question of each group. ours: (n_rows,), rayeval ran the pipeline. Of
    another one a group that a later step lists was not lost before: its trace may show arms as if
    one followed the other, or the first hits of a list alone, and its parser is not ours.
    """
    n_rows = len(ours)
    status = np.full(n_rows, SUCCESS)
    end = np.full(n_rows, len(steps))
    lost = np.zeros(len(row), bool)
    later = _listed_later(steps, len(row))
    for number, step in enumerate(steps):
        going = status == SUCCESS
        status[going & step.error] = ERROR
        status[going & step.missing] = MISSING
        if step.decides:
            gone = step.lost & (ours[row] | ~later[number])
            here = gone & (status == SUCCESS)[row]
            lost |= here
            status[row[here]] = FAILED
        end[going & (status != SUCCESS)] = number
    return Walk(status, end, lost)


def _listed_later(steps: Sequence[Step], n_groups: int) -> list[Bools]:
    """Of every step, (n_groups,): what some step after it lists."""
    later = [np.zeros(n_groups, bool)]
    for step in reversed(steps[1:]):
        later.append(later[-1] | step.listed)
    return later[::-1]
