"""Intervals for ratios of sums: BCa with many clusters, bootstrap-t with few, none with one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from rayeval.columns import Floats
from rayeval.stats import draws
from rayeval.stats.bootstrap import REPLICATES, replicates
from rayeval.stats.clusters import Sums

FEW = 30
"""Under so many clusters the bootstrap's own spread is too small, and bootstrap-t takes over."""
_STILL = 1e-12
"""A standard error that is none."""

Method = Literal["bca", "percentile", "bootstrap_t", "student_t", "none"]


@dataclass(frozen=True)
class Interval:
    """Two limits and how they were found; NaN without a limit."""

    estimate: float
    low: float
    high: float
    clusters: int
    method: Method


def intervals(
    sums: Sums,
    *,
    seed: int,
    count: int = REPLICATES,
    tail: float = 0.025,
    possible: tuple[float, float] = (-np.inf, np.inf),
) -> list[Interval]:
    """One for every column.

    tail: what lies beyond each limit: 0.025 for 95% between them, 0.05 for a one-sided 95%.
    possible: the range in which the figure can lie; limits are clipped to it.
    Columns over FEW clusters or more share their draws; those over fewer are drawn by themselves.
    """
    clusters = (sums.below != 0).sum(axis=0)
    many = np.flatnonzero(clusters >= FEW)
    wide = Sums(sums.above[:, many], sums.below[:, many])
    used = (wide.below != 0).any(axis=1)
    wide = Sums(wide.above[used], wide.below[used])
    found = dict(zip(many.tolist(), _many(wide, seed, count, tail), strict=True))
    for place in np.flatnonzero(clusters < FEW).tolist():
        found[place] = _few(sums.column(place), seed, count, tail)
    return [_clipped(found[place], possible) for place in range(sums.above.shape[1])]


def _many(sums: Sums, seed: int, count: int, tail: float) -> list[Interval]:
    if not sums.above.size:
        return []
    drawn, estimate = replicates(sums, seed=seed, count=count)
    acceleration, exact = _acceleration(sums), sums.estimate
    clusters = (sums.below != 0).sum(axis=0)
    result = []
    for place in range(drawn.shape[1]):
        column = drawn[:, place]
        column = column[~np.isnan(column)]
        levels = _bca_levels(column, float(estimate[place]), float(acceleration[place]), tail)
        low, high = np.quantile(column, levels or (tail, 1 - tail))
        method: Method = "bca" if levels else "percentile"
        result.append(
            Interval(float(exact[place]), float(low), float(high), int(clusters[place]), method)
        )
    return result


def _bca_levels(
    drawn: Floats, estimate: float, acceleration: float, tail: float
) -> tuple[float, float] | None:
    """At which quantiles of the replicates the limits lie; None where the correction is undefined.

    Source: Efron 1987, doi:10.1080/01621459.1987.10478410; ties with the estimate count half.
    """
    below = ((drawn < estimate).sum() + 0.5 * (drawn == estimate).sum()) / len(drawn)
    bias = stats.norm.ppf(below)
    if not (np.isfinite(bias) and np.isfinite(acceleration)):
        return None
    z = bias + stats.norm.ppf([tail, 1 - tail])
    room = 1 - acceleration * z
    if (room <= 0).any():
        return None
    low, high = stats.norm.cdf(bias + z / room)
    return float(low), float(high)


def _acceleration(sums: Sums) -> Floats:
    """By leaving out one cluster at a time, (n_columns,); NaN where that changes nothing."""
    above, below = sums.above, sums.below
    with np.errstate(divide="ignore", invalid="ignore"):
        left = (above.sum(axis=0) - above) / (below.sum(axis=0) - below)
        left = np.where(below != 0, left, np.nan)
        pull = np.nanmean(left, axis=0) - left
        cubes, squares = np.nansum(pull**3, axis=0), np.nansum(pull**2, axis=0)
        still = squares <= _STILL**2
        result: Floats = np.where(still, np.nan, cubes / (6 * squares**1.5))
    return result


def _few(sums: Sums, seed: int, count: int, tail: float) -> Interval:
    """Bootstrap-t, or Student's t where too many replicates have no spread.

    Source: Efron & Tibshirani 1993, An Introduction to the Bootstrap, §12.5.
    """
    above, below = sums.above[:, 0], sums.below[:, 0]
    clusters = len(above)
    estimate = float(sums.estimate[0])
    if clusters < 2:
        return Interval(estimate, np.nan, np.nan, clusters, "none")
    spread = float(standard_error(above[None], below[None], np.ones((1, clusters)))[0])
    studentised = _studentised(above, below, estimate, seed, count)
    if len(studentised) < 0.95 * count:
        reach = float(stats.t.ppf(1 - tail, clusters - 1)) * spread
        return Interval(estimate, estimate - reach, estimate + reach, clusters, "student_t")
    high, low = np.quantile(studentised, [tail, 1 - tail])
    return Interval(
        estimate, estimate - low * spread, estimate - high * spread, clusters, "bootstrap_t"
    )


def _studentised(above: Floats, below: Floats, estimate: float, seed: int, count: int) -> Floats:
    """(ratio − estimate) / standard error of every replicate that has one."""
    drawn = draws.counts(seed, range(count), len(above))
    ratio = (drawn * above).sum(axis=1) / (drawn * below).sum(axis=1)
    spread = standard_error(above[None], below[None], drawn)
    moving = spread > _STILL
    result: Floats = (ratio[moving] - estimate) / spread[moving]
    return result


def standard_error(above: Floats, below: Floats, drawn: Floats) -> Floats:
    """Of Σ above / Σ below over clusters drawn `drawn` times, linearised; (n_replicates,).

    above, below: (1, n_clusters); drawn: (n_replicates, n_clusters), rows adding up to n_clusters.
    Source: Cochran 1977, Sampling Techniques, §6.3; with n_clusters / (n_clusters − 1).
    """
    total = (drawn * below).sum(axis=1, keepdims=True)
    ratio = (drawn * above).sum(axis=1, keepdims=True) / total
    squares = (drawn * (above - ratio * below) ** 2).sum(axis=1)
    clusters = drawn.shape[1]
    result: Floats = np.sqrt(squares * clusters / (clusters - 1)) / total[:, 0]
    return result


def _clipped(found: Interval, possible: tuple[float, float]) -> Interval:
    low, high = np.clip([found.low, found.high], *possible)
    return Interval(found.estimate, float(low), float(high), found.clusters, found.method)
