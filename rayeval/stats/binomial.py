"""Exact limits for shares of questions."""

from __future__ import annotations

import numpy as np
from scipy import stats


def exact_limits(successes: int, n: int, *, tail: float = 0.025) -> tuple[float, float]:
    """Limits for a share that no approximation decides; NaN of nothing.

    tail: what lies beyond each limit at most.
    Source: Clopper & Pearson 1934, doi:10.1093/biomet/26.4.404.
    """
    if n == 0:
        return float("nan"), float("nan")
    low = 0.0 if successes == 0 else float(stats.beta.ppf(tail, successes, n - successes + 1))
    high = 1.0 if successes == n else float(stats.beta.ppf(1 - tail, successes + 1, n - successes))
    return low, high


def discordant_limits(
    better: int, worse: int, n: int, *, tail: float = 0.025
) -> tuple[float, float]:
    """Limits for a paired difference of shares, (better − worse) / n, n questions in all.

    Given how many questions changed, how they split is binomial; the exact limits of the split
    are carried to the difference. With nothing changed, the limits are those of a share of
    0 of n on either side.
    Source: Clopper & Pearson on the discordant pairs (conditional, as McNemar 1947).
    """
    changed = better + worse
    if n == 0:
        return float("nan"), float("nan")
    if changed == 0:
        reach = exact_limits(0, n, tail=tail)[1]
        return -reach, reach
    low, high = exact_limits(better, changed, tail=tail)
    scale = changed / n
    return float(np.clip((2 * low - 1) * scale, -1, 1)), float(
        np.clip((2 * high - 1) * scale, -1, 1)
    )
