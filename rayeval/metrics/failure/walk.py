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


def walk(steps: Sequence[Step], row: Ints, n_rows: int) -> Walk:
    """Stops each question at the first step that failed, is missing, or lost a group.

    row: (n_groups,), the question of each group.
    """
    status = np.full(n_rows, SUCCESS)
    end = np.full(n_rows, len(steps))
    lost = np.zeros(len(row), bool)
    for number, step in enumerate(steps):
        going = status == SUCCESS
        status[going & step.error] = ERROR
        status[going & step.missing] = MISSING
        if step.decides:
            here = step.lost & (status == SUCCESS)[row]
            lost |= here
            status[row[here]] = FAILED
        end[going & (status != SUCCESS)] = number
    return Walk(status, end, lost)
