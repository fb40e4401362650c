"""Whether a judge may stand in for one of several people: the alternative annotator test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from rayeval.columns import Floats

EPSILON = 0.2
"""What a judge may lack and still be worth it, being cheap: 0.2 beside experts, 0.15 beside skilled
people, 0.1 beside crowd workers (the authors' advice)."""
Q = 0.05
"""The false discovery rate of the tests, one a person."""
FEWEST_ITEMS, FEWEST_PEOPLE = 30, 3


@dataclass(frozen=True)
class Alternative:
    """What the test found; arrays (n_people,), NaN for those who labelled too little."""

    winning_rate: float
    """Of the people tested, the share whom the judge may replace; from 0.5 on it passes."""
    advantage: float
    """The mean of `advantages`, ρ: by this judges are compared."""
    advantages: Floats
    """How often the judge is at least as near to the other people as this person is."""
    p: Floats
    """Of that person, before the correction for many."""
    n: Floats
    """Items that this person, another one and the judge labelled."""


def alternative(
    people: Floats,
    judge: Floats,
    *,
    ordinal: bool,
    epsilon: float = EPSILON,
    fewest_items: int = FEWEST_ITEMS,
) -> Alternative | None:
    """Leaves out one person at a time: who is nearer to the others, the judge or that person?

    people: (n_items, n_people), NaN where somebody gave no label. judge: (n_items,), NaN likewise.
    Near is how often labels are the same, of ordinal ones a small root mean square of differences.
    H0 of person j: the judge is nearer less often by `epsilon` or more; one-sided t-test over
    items, which it takes for independent and weighs alike; Benjamini and Yekutieli over people.
    Returns None unless FEWEST_PEOPLE have `fewest_items` each.
    Source: Calderon, Reichart & Dror 2025, arXiv:2501.10970.
    """
    found = [_of_one(people, judge, one, ordinal, epsilon) for one in range(people.shape[1])]
    n, advantages, p = (np.array(values, np.float64) for values in zip(*found, strict=True))
    tested = n >= fewest_items
    if tested.sum() < FEWEST_PEOPLE:
        return None
    won = stats.false_discovery_control(p[tested], method="by") <= Q
    advantages, p = (np.where(tested, values, np.nan) for values in (advantages, p))
    return Alternative(float(won.mean()), float(np.nanmean(advantages)), advantages, p, n)


def _of_one(
    people: Floats, judge: Floats, one: int, ordinal: bool, epsilon: float
) -> tuple[int, float, float]:
    """How many items there are, the judge's advantage over this person, and p."""
    mine, others = people[:, one], np.delete(people, one, axis=1)
    there = ~np.isnan(mine) & ~np.isnan(judge) & ~np.isnan(others).all(axis=1)
    if not there.any():
        return 0, np.nan, np.nan
    his, its = (_far(labels[there], others[there], ordinal) for labels in (mine, judge))
    ahead = (his <= its).astype(np.float64) - (its <= his)
    return int(there.sum()), float((its <= his).mean()), _p(ahead, epsilon)


def _far(labels: Floats, others: Floats, ordinal: bool) -> Floats:
    """From what the others say, on average; squares have the order of their roots."""
    apart = labels[:, None] - others
    far = np.where(np.isnan(apart), np.nan, apart**2 if ordinal else apart != 0)
    mean: Floats = np.nanmean(far, axis=1)
    return mean


def _p(ahead: Floats, epsilon: float) -> float:
    """Of the mean being `epsilon` or more, one-sided."""
    mean, n = float(ahead.mean()), len(ahead)
    error = float(ahead.std(ddof=1)) / np.sqrt(n) if n > 1 else np.nan
    if error == 0:
        return 0.0 if mean < epsilon else 1.0
    return float(stats.t.cdf((mean - epsilon) / error, n - 1))
