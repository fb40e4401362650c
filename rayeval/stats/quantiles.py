"""The cluster bootstrap of quantiles: latency's median and tails, one run's or two runs' apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rayeval.columns import Floats, Ints
from rayeval.stats import draws
from rayeval.stats.bootstrap import REPLICATES, blocks


def quantile_replicates(
    values: Floats, clusters: Ints, levels: Sequence[float], *, seed: int, count: int = REPLICATES
) -> Floats:
    """The quantiles of what each replicate draws, (count, n_levels).

    values, clusters: (n_rows,), without NaN. Clusters are drawn whole; a replicate's quantile is
    `numpy.quantile`'s (linear between neighbours) of all rows drawn, as often as they are.
    Two runs over the same clusters and seed see the same draws: subtract their replicates.
    """
    order = np.argsort(values, kind="stable")
    codes = np.unique(clusters, return_inverse=True)[1][order]
    drawn = np.empty((count, len(levels)))
    n_clusters = int(codes.max()) + 1
    for part in blocks(count, max(len(values), n_clusters)):
        weights = draws.counts(seed, part, n_clusters).astype(np.int32)
        upto = np.cumsum(weights[:, codes], axis=1, dtype=np.int64)
        drawn[part.start : part.stop] = _weighted(values[order], upto, np.asarray(levels))
    return drawn


def _weighted(ordered: Floats, upto: Ints, levels: Floats) -> Floats:
    """(n_replicates, n_levels): quantiles of rows repeated so often that `upto`, (n_replicates,
    n_rows), is their running count."""
    last = upto[:, -1:] - 1
    place = last * levels
    below = np.floor(place).astype(np.int64)
    apart = np.arange(len(upto))[:, None] * (int(last.max()) + 2)  # one order for all replicates
    every = (upto + apart).ravel()
    first, second = (
        ordered[np.searchsorted(every, at + apart, "right") % len(ordered)]
        for at in (below, np.minimum(below + 1, last))
    )
    quantiles: Floats = first + (second - first) * (place - below)
    return quantiles


def percentile_interval(drawn: Floats, *, tail: float = 0.025) -> tuple[float, float]:
    """The limits between which all but `tail` on either side of the replicates lie."""
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return float(low), float(high)


def defined_interval(drawn: Floats) -> list[float] | None:
    """`percentile_interval` of the replicates that are defined; None where over 5% are not."""
    values = drawn[~np.isnan(drawn)]
    return list(percentile_interval(values)) if len(values) >= max(1, 0.95 * len(drawn)) else None
