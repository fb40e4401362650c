"""The cluster bootstrap of quantiles: latency's median and tails, one run's or two runs' apart."""

from __future__ import annotations

import numpy as np

from rayeval.columns import Floats, Ints
from rayeval.stats import draws
from rayeval.stats.bootstrap import REPLICATES, blocks


def quantile_replicates(
    values: Floats, clusters: Ints, q: float, *, seed: int, count: int = REPLICATES
) -> Floats:
    """The q-quantile of what each replicate draws, (count,).

    values, clusters: (n_rows,), without NaN. Clusters are drawn whole; a replicate's quantile is
    `numpy.quantile`'s (linear between neighbours) of all rows drawn, as often as they are.
    Two runs over the same clusters and seed see the same draws: subtract their replicates.
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    codes = np.unique(clusters, return_inverse=True)[1][order]
    drawn = np.empty(count)
    n_clusters = int(codes.max()) + 1
    for part in blocks(count, max(len(values), n_clusters)):
        weights = draws.counts(seed, part, n_clusters)[:, codes]
        for row, number in enumerate(part):
            drawn[number] = _weighted(ordered, np.cumsum(weights[row]), q)
    return drawn


def _weighted(ordered: Floats, upto: Floats, q: float) -> float:
    """The quantile of rows repeated so often that `upto` is their running count."""
    place = (upto[-1] - 1) * q
    below = np.floor(place)
    first, second = ordered[np.searchsorted(upto, [below, min(below + 1, upto[-1] - 1)], "right")]
    return float(first + (second - first) * (place - below))


def percentile_interval(drawn: Floats, *, tail: float = 0.025) -> tuple[float, float]:
    """The limits between which all but `tail` on either side of the replicates lie."""
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return float(low), float(high)


def defined_interval(drawn: Floats) -> list[float] | None:
    """`percentile_interval` of the replicates that are defined; None where over 5% are not."""
    values = drawn[~np.isnan(drawn)]
    return list(percentile_interval(values)) if len(values) >= max(1, 0.95 * len(drawn)) else None
