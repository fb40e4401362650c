"""Prediction-powered inference: a mean of people's labels, sharpened by a judge's on all items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats

from rayeval.columns import Floats, Ints


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
    judge: Floats, people: Floats, probability: Floats, clusters: Ints, *, confidence: float = 0.95
) -> Powered:
    """The mean that people would give all items, from their labels of some and a judge's of all.

    judge: (n_items,), no NaN. people: (n_items,), NaN where an item is not labelled.
    probability: (n_items,) in (0, 1], with which an item was drawn to be labelled.
    clusters: (n_items,), from 0. The estimate is λ·mean(judge) + the weighted mean of
    (people − λ·judge) over what is labelled; λ is the one in [0, 1] whose variance, by clusters,
    is least, so the limits are not wider than those of the labels alone. Limits are Student's t
    with (labelled clusters − 1) degrees.
    Returns NaN limits under two labelled clusters.
    Source: Angelopoulos, Duchi & Zrnic 2023, "PPI++", arXiv:2311.01453; weighted by inclusion
    probability (Hájek), with the variance by clusters.
    """
    there = ~np.isnan(people)
    n, labelled = len(judge), int(there.sum())
    mean = float(judge.mean()) if n else np.nan
    if not labelled:
        nothing = Estimate(np.nan, np.nan, np.nan)
        return Powered(mean, nothing, nothing, 0.0, n, 0)
    weights = np.where(there, 1 / probability, 0.0)
    weights = weights / weights.sum()
    said = np.where(there, people, 0.0)
    by_people, by_judge = float((weights * said).sum()), float((weights * judge).sum())
    # One item's part in the estimate's error: of the labels alone, and of each unit of λ.
    own = _by_cluster(weights * (said - by_people), clusters)
    shift = _by_cluster((judge - mean) / n - weights * (judge - by_judge), clusters)
    spread = float((shift**2).sum())
    best = -float((own * shift).sum()) / spread if spread > 0 else 0.0
    tuning = min(max(best, 0.0), 1.0)
    degrees = len(np.unique(clusters[there])) - 1
    return Powered(
        mean,
        _estimate(by_people, own, degrees, confidence),
        _estimate(
            by_people + tuning * (mean - by_judge), own + tuning * shift, degrees, confidence
        ),
        tuning,
        n,
        labelled,
    )


def _by_cluster(parts: Floats, clusters: Ints) -> Floats:
    sums: Floats = np.bincount(clusters, parts).astype(np.float64)
    return sums


def _estimate(value: float, parts: Floats, degrees: int, confidence: float) -> Estimate:
    if degrees < 1:
        return Estimate(value, np.nan, np.nan)
    error = float(np.sqrt((parts**2).sum() * (degrees + 1) / degrees))
    reach = float(stats.t.ppf(0.5 + confidence / 2, degrees)) * error
    return Estimate(value, value - reach, value + reach)
