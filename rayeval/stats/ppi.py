"""Prediction-powered inference: a mean of people's labels, sharpened by a judge's on all items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from rayeval.columns import Floats, Ints
from rayeval.stats.binomial import exact_limits

ROUNDING = 1e-24
"""A judge whose verdicts vary by less than rounding errors, squared, says one thing only."""


@dataclass(frozen=True)
class Estimate:
    """A mean with its limits."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Powered:
    """What a judge says, what people say, and both together."""

    judge: float
    """The judge's mean over all items, its errors and all."""
    labels: Estimate
    """From the labelled items alone."""
    ppi: Estimate
    tuning: float
    """λ: 0 leaves the judge out, 1 trusts it fully."""
    n: int
    labelled: int


def powered(
    judge: Floats,
    people: Floats,
    probability: Floats,
    clusters: Ints,
    *,
    parts: Floats | None = None,
    confidence: float = 0.95,
) -> Powered:
    """The mean that people would give all items, from their labels of some and a judge's of all.

    judge: (n_items,) in [0, 1]. people: (n_items,) in [0, 1], NaN where an item is not labelled.
    probability: (n_items,) in (0, 1], with which an item was drawn to be labelled.
    clusters: (n_items,), from 0. parts: (n_items,), what each item is of the mean, such as one over
    the claims of its answer where claims are averaged by answer; default: all the same.
    The estimate is λ·mean(judge) + the weighted mean of (people − λ·judge) over what is labelled;
    λ is the one in [0, 1] whose variance, by clusters, is least, so the limits are not wider than
    those of the labels alone. Limits are Student's t with (labelled clusters − 1) degrees, within
    [0, 1]; exact binomial ones of the clusters where all labels are 0, or all are 1.
    Returns NaN limits under two labelled clusters.
    Source: Angelopoulos, Duchi & Zrnic 2023, "PPI++", arXiv:2311.01453; weighted by inclusion
    probability (Hájek), with the variance by clusters.
    """
    there = ~np.isnan(people)
    n, labelled = len(judge), int(there.sum())
    share = np.ones(n) if parts is None else parts
    share = share / share.sum() if n else share
    mean = float((share * judge).sum()) if n else np.nan
    if not labelled:
        nothing = Estimate(np.nan, np.nan, np.nan)
        return Powered(mean, nothing, nothing, 0.0, n, 0)
    weights = np.where(there, share / probability, 0.0)
    weights = weights / weights.sum()
    said = np.where(there, people, 0.0)
    by_people, by_judge = float((weights * said).sum()), float((weights * judge).sum())
    # One item's part in the estimate's error: of the labels alone, and of each unit of λ.
    own = _by_cluster(weights * (said - by_people), clusters)
    shift = _by_cluster(share * (judge - mean) - weights * (judge - by_judge), clusters)
    spread = float((shift**2).sum())
    best = -float((own * shift).sum()) / spread if spread > ROUNDING else 0.0
    tuning = min(max(best, 0.0), 1.0)
    count = len(np.unique(clusters[there]))
    labels = _estimate(by_people, own, count, confidence)
    powered_ = by_people + tuning * (mean - by_judge), own + tuning * shift
    return Powered(mean, labels, _estimate(*powered_, count, confidence), tuning, n, labelled)


def _by_cluster(errors: Floats, clusters: Ints) -> Floats:
    sums: Floats = np.bincount(clusters, errors).astype(np.float64)
    return sums


def _estimate(value: float, errors: Floats, clusters: int, confidence: float) -> Estimate:
    tail = (1 - confidence) / 2
    if clusters < 2:
        return Estimate(value, np.nan, np.nan)
    squares, whole = float((errors**2).sum()), round(value)
    if squares <= ROUNDING and abs(value - whole) < 1e-9:
        return Estimate(float(whole), *exact_limits(whole * clusters, clusters, tail=tail))
    error = float(np.sqrt(squares * clusters / (clusters - 1)))
    reach = float(stats.t.ppf(1 - tail, clusters - 1)) * error
    return Estimate(value, max(0.0, value - reach), min(1.0, value + reach))
