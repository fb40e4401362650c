"""Metrics of the order of found groups: positions, nDCG, average precision (DESIGN §5).

Groups are taken by the rank of the first hit that finds them (ties: higher grade; group ids can't
change a value any more). The i-th stands at position p_i = max(rank_i, p_{i-1} + 1): a fact found
twice is paid once, and two facts in one hit take two positions.

first, row, grade: (n_groups,), rank of the first hit that finds each group (NEVER where none does),
its question, and its grade.
limit: (n_questions,), the last rank that counts. k: the last position that counts; None: all.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Literal

import numpy as np

from rayeval.columns import Floats, Ints
from rayeval.metrics.ranking import share

Gain = Literal["exponential", "linear"]


def positions(first: Ints, row: Ints, grade: Ints, limit: Ints) -> tuple[Ints, Ints, Ints]:
    """The found groups in order of (question, position).

    Returns (group, its position, its 1-based number among the question's found groups).
    """
    found = np.flatnonzero(first <= limit[row])
    group = found[np.lexsort((-grade[found], first[found], row[found]))]
    number = _numbers(row[group])
    # p_i - i is the running maximum of rank_i - i; questions are kept apart by a large step.
    ahead = first[group] - number
    step = row[group] * (ahead.max(initial=0) + len(group) + 1)
    return group, np.maximum.accumulate(ahead + step) - step + number, number


def average_precision(first: Ints, row: Ints, grade: Ints, limit: Ints, *, k: int | None) -> Floats:
    """Mean over a question's groups of i / p_i, 0 for those not found.

    Returns (n_questions,) in [0, 1]; NaN where the question has no group.
    """
    group, position, number = positions(first, row, grade, limit)
    inside = position <= _last(k)
    found = _sums(row[group[inside]], number[inside] / position[inside], len(limit))
    return share(found, np.bincount(row, minlength=len(limit)))


def ndcg(first: Ints, row: Ints, grade: Ints, limit: Ints, *, k: int | None, gain: Gain) -> Floats:
    """Normalised discounted cumulative gain over positions.

    gain: of a grade g, 2^g - 1 (exponential) or g (linear).
    Returns (n_questions,) in [0, 1]; NaN where no group has a positive grade.
    Source: Järvelin & Kekäläinen 2002, doi:10.1145/582415.582418, log2 discount.
    """
    group, position, _ = positions(first, row, grade, limit)
    best = np.lexsort((-grade, row))
    found = _dcg(row[group], _gains(grade[group], gain), position, len(limit), k)
    ideal = _dcg(row[best], _gains(grade[best], gain), _numbers(row[best]), len(limit), k)
    return share(found, ideal)


def _dcg(row: Ints, gains: Floats, position: Ints, n_rows: int, k: int | None) -> Floats:
    inside = position <= _last(k)
    return _sums(row[inside], gains[inside] * _discounts(position[inside]), n_rows)


def _gains(grade: Ints, gain: Gain) -> Floats:
    return ((1 << grade) - 1 if gain == "exponential" else grade).astype(np.float64)


def _discounts(position: Ints) -> Floats:
    """1 / log2(position + 1)."""
    distinct, which = np.unique(position, return_inverse=True)
    return np.array([_discount(int(p)) for p in distinct], np.float64)[which]


@cache
def _discount(position: int) -> float:
    """By the C library's log2: NumPy's own may differ in the last bit between processors."""
    return 1 / math.log2(position + 1)


def _sums(row: Ints, values: Floats, n_rows: int) -> Floats:
    """Row sums from left to right, so that other rows can't change the last bits."""
    return np.bincount(row, weights=values, minlength=n_rows).astype(np.float64)


def _numbers(row: Ints) -> Ints:
    """1, 2, 3, … within every run of equal rows."""
    starts = np.flatnonzero(np.append(True, row[1:] != row[:-1])[: len(row)])
    sizes = np.diff(np.append(starts, len(row)))
    return np.arange(len(row)) - np.repeat(starts, sizes) + 1


def _last(k: int | None) -> int:
    return np.iinfo(np.int64).max if k is None else k
