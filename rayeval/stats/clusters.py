"""Values of questions, added up by cluster: all that the bootstrap needs of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rayeval.columns import Floats, Ints


@dataclass(frozen=True)
class Sums:
    """Sums by cluster, from which a ratio of sums is drawn again and again.

    A mean is Σ values / Σ counts; a ratio of two runs Σ new / Σ base.
    """

    above: Floats
    """(n_clusters, n_columns)."""
    below: Floats
    """(n_clusters, n_columns); 0 where the cluster has nothing defined in that column."""

    @property
    def estimate(self) -> Floats:
        """Σ above / Σ below, (n_columns,); NaN where there is nothing."""
        return quotient(self.above.sum(axis=0), self.below.sum(axis=0))

    def column(self, place: int) -> Sums:
        """One column alone, of the clusters that have something in it."""
        there = self.below[:, place] != 0
        return Sums(self.above[there, place : place + 1], self.below[there, place : place + 1])


def means(values: Floats, clusters: Ints) -> Sums:
    """The sums behind the mean of every column.

    values: (n_rows, n_columns); NaN where undefined, which is left out. Rows in a fixed order.
    clusters: (n_rows,), 0 … n_clusters − 1 in the order of the sorted cluster ids.
    """
    defined = ~np.isnan(values)
    return Sums(_added(np.where(defined, values, 0.0), clusters), _added(defined, clusters))


def ratios(new: Floats, base: Floats, clusters: Ints) -> Sums:
    """The sums behind Σ new / Σ base over the rows where both are defined; shapes as in `means`."""
    defined = ~(np.isnan(new) | np.isnan(base))
    parts = (_added(np.where(defined, side, 0.0), clusters) for side in (new, base))
    return Sums(*parts)


def quotient(above: Floats, below: Floats) -> Floats:
    """above / below; NaN where there is nothing below."""
    result: Floats = np.divide(above, below, out=np.full(below.shape, np.nan), where=below != 0)
    return result


def intra_cluster_correlation(values: Floats, clusters: Ints) -> float:
    """How alike questions of one cluster are: 1 the same, 0 as strangers (it may be below).

    values, clusters: (n_rows,). NaN values are left out.
    Returns NaN under two clusters, or where no cluster has two questions.
    Source: Donner & Koval 1980, doi:10.2307/2530491; the one-way analysis of variance estimator.
    """
    there = ~np.isnan(values)
    values, codes = values[there], np.unique(clusters[there], return_inverse=True)[1]
    sizes = np.bincount(codes).astype(float)
    n, c = len(values), len(sizes)
    if c < 2 or n == c:
        return float("nan")
    centres = np.bincount(codes, values) / sizes
    between = float((sizes * (centres - values.mean()) ** 2).sum()) / (c - 1)
    within = float(((values - centres[codes]) ** 2).sum()) / (n - c)
    typical = (n - float((sizes**2).sum()) / n) / (c - 1)
    spread = between + (typical - 1) * within
    return (between - within) / spread if spread > 0 else float("nan")


def _added(columns: Floats, clusters: Ints) -> Floats:
    """Each column's sums by cluster, rows added in their order."""
    count = int(clusters.max()) + 1 if len(clusters) else 0
    sums = np.empty((count, columns.shape[1]))
    for place in range(columns.shape[1]):
        sums[:, place] = np.bincount(clusters, columns[:, place], minlength=count)
    return sums
