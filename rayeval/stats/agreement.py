"""How far two who judge the same things agree, beyond what chance would give.

All figures are functions of tables of counts, so a bootstrap draws clusters of tables and asks
again. Labels are places on a scale, 0 … k − 1.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from rayeval.columns import Floats, Ints
from rayeval.stats import draws
from rayeval.stats.bootstrap import REPLICATES, blocks

Weights = Literal["none", "linear", "quadratic"]
Level = Literal["nominal", "ordinal"]


def tables(
    first: Ints, second: Ints, clusters: Ints, k: int, weights: Floats | None = None
) -> Floats:
    """How often each pair of labels was given, cluster by cluster.

    first, second: (n_items,), places on a scale of `k` labels. clusters: (n_items,), from 0.
    weights: (n_items,), how many items each stands for; they are scaled to add up to n_items.
    Returns (n_clusters, k, k): [c, i, j] items of c that `first` calls i and `second` j.
    """
    if weights is not None and weights.any():
        weights = weights * (len(weights) / weights.sum())
    n_clusters = int(clusters.max()) + 1 if len(clusters) else 0
    cells = (clusters * k + first) * k + second
    counts = np.bincount(cells, weights, minlength=n_clusters * k * k).astype(np.float64)
    return counts.reshape(n_clusters, k, k)


def agreement(table: Floats) -> Floats:
    """The share of items that both call the same.

    table: (…, k, k). Returns (…,) in [0, 1]; NaN of nothing.
    """
    return _over(np.trace(table, axis1=-2, axis2=-1), table.sum(axis=(-2, -1)))


def kappa(table: Floats, weights: Weights = "none") -> Floats:
    """Cohen's κ: 1 full agreement, 0 as much as chance gives, below 0 less.

    table: (…, k, k). weights: what a disagreement counts, by its distance on the scale.
    Returns (…,) in [−1, 1]; NaN where chance alone leaves nothing to disagree on.
    Source: Cohen 1960, doi:10.1177/001316446002000104; 1968, doi:10.1037/h0026256 (weighted).
    """
    distance = np.abs(np.subtract.outer(np.arange(table.shape[-1]), np.arange(table.shape[-1])))
    power = {"none": np.sign(distance), "linear": distance, "quadratic": distance**2}[weights]
    n = table.sum(axis=(-2, -1))
    chance = table.sum(axis=-1)[..., :, None] * table.sum(axis=-2)[..., None, :]
    seen = (power * table).sum(axis=(-2, -1)) * n
    return 1 - _over(seen, (power * chance).sum(axis=(-2, -1)))


def sensitivity(table: Floats, positive: int) -> Floats:
    """Of what `first` (people) calls at least `positive`, the share that `second` does too.

    table: (…, k, k). Returns (…,) in [0, 1]; NaN where there is none.
    """
    rows = table[..., positive:, :]
    return _over(rows[..., positive:].sum(axis=(-2, -1)), rows.sum(axis=(-2, -1)))


def specificity(table: Floats, positive: int) -> Floats:
    """Of what `first` calls less than `positive`, the share that `second` does too; as above."""
    rows = table[..., :positive, :]
    return _over(rows[..., :positive].sum(axis=(-2, -1)), rows.sum(axis=(-2, -1)))


def coincidences(counts: Floats) -> Floats:
    """Krippendorff's coincidences of every unit.

    counts: (n_units, k), how many raters gave a unit each label. Units of one rater pair nothing.
    Returns (n_units, k, k).
    """
    raters = counts.sum(axis=1)
    pairs = counts[:, :, None] * counts[:, None, :]
    place = np.arange(counts.shape[1])
    pairs[:, place, place] -= counts
    weight = np.divide(1.0, raters - 1, out=np.zeros(len(raters)), where=raters > 1)
    weighted: Floats = pairs * weight[:, None, None]
    return weighted


def alpha(coincidence: Floats, level: Level) -> Floats:
    """Krippendorff's α: 1 full agreement, 0 as much as chance gives.

    coincidence: (…, k, k), summed over units; of two raters without gaps it is T + Tᵀ.
    Returns (…,), at most 1; NaN where nothing is paired, or every label is the same.
    Source: Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability".
    """
    totals = coincidence.sum(axis=-1)
    n = totals.sum(axis=-1)
    distance = _distance(totals, level)
    seen = (distance * coincidence).sum(axis=(-2, -1)) * (n - 1)
    chance = (distance * totals[..., :, None] * totals[..., None, :]).sum(axis=(-2, -1))
    result: Floats = 1 - _over(seen, chance)
    return result


def _distance(totals: Floats, level: Level) -> Floats:
    """(…, k, k): squared distance of two labels; ordinal ones by how many lie between them."""
    k = totals.shape[-1]
    if level == "nominal":
        apart: Floats = 1.0 - np.eye(k)
        return apart
    middle = np.cumsum(totals, axis=-1) - totals / 2
    result: Floats = (middle[..., :, None] - middle[..., None, :]) ** 2
    return result


def replicated(table: Floats, *, seed: int, count: int = REPLICATES) -> Floats:
    """The table of every bootstrap replicate, clusters drawn whole.

    table: (n_clusters, k, k). Returns (count, k, k).
    """
    n_clusters, k, _ = table.shape
    flat = table.reshape(n_clusters, k * k)
    drawn = [draws.counts(seed, part, n_clusters) @ flat for part in blocks(count, n_clusters)]
    return np.concatenate(drawn).reshape(count, k, k)


def _over(above: Floats, below: Floats) -> Floats:
    below = np.asarray(below, dtype=np.float64)
    result: Floats = np.divide(above, below, out=np.full(below.shape, np.nan), where=below != 0)
    return result
