"""Metrics of which groups are found, and at which rank first (DESIGN §5).

first: (n_groups,), rank of the first hit that finds each group with gold, NEVER where none does.
row: (n_groups,), the question of each group.
limit: (n_questions,), the last rank that counts.
All return (n_questions,) in [0, 1]; NaN where the question has no group.
"""

from __future__ import annotations

import numpy as np

from rayeval.columns import Floats, Ints
from rayeval.metrics.ranking import NEVER, share, tally


def hit(first: Ints, row: Ints, limit: Ints) -> Floats:
    """1 if any group is found, else 0."""
    groups, found = _counts(first, row, limit)
    return share((found > 0) * groups, groups)


def recall(first: Ints, row: Ints, limit: Ints) -> Floats:
    """Groups found / groups; with sets of sources for groups, source recall."""
    groups, found = _counts(first, row, limit)
    return share(found, groups)


def all_groups(first: Ints, row: Ints, limit: Ints) -> Floats:
    """1 if every group is found, else 0."""
    groups, found = _counts(first, row, limit)
    return share((found == groups) * groups, groups)


def partial(first: Ints, part: Ints, row: Ints, limit: Ints) -> Floats:
    """Groups that no hit finds, though one covers part of their gold / groups.

    part: (n_groups,), rank of the first hit that covers enough of the group's gold to count.
    """
    groups = np.bincount(row, minlength=len(limit))
    there = (part <= limit[row]) & (first > limit[row])
    return share(tally(row, there, len(limit)), groups)


def mrr(first: Ints, row: Ints, limit: Ints) -> Floats:
    """1 / rank of the first hit that finds a group, 0 where none within the limit does."""
    groups, found = _counts(first, row, limit)
    best = np.full(len(limit), NEVER)
    np.minimum.at(best, row, first)
    return share((found > 0) / best, np.minimum(groups, 1))


def precision(hits: Ints, size: Ints, groups: Ints) -> Floats:
    """Hits that find a group / size; 0 where size is 0.

    hits: (n_questions,), how many of the hits within the limit find a group.
    size: (n_questions,), k, or the hits returned. groups: (n_questions,), groups with gold.
    """
    return np.where(groups > 0, hits / np.maximum(size, 1), np.nan)


def _counts(first: Ints, row: Ints, limit: Ints) -> tuple[Ints, Ints]:
    """(groups, groups found) of every question."""
    groups = np.bincount(row, minlength=len(limit))
    return groups, tally(row, first <= limit[row], len(limit))
