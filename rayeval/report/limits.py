"""Limits of means by cluster, for what a report draws beside them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from rayeval.columns import Ints
from rayeval.stats.clusters import Sums, means
from rayeval.stats.intervals import intervals, standard_error

REPLICATES = 1_000
"""A drawing needs fewer than a decision."""
MANY = 1_000
"""Clusters over which the mean's distribution is as good as normal, and nothing needs be drawn."""
SEED = 42


def mean_limits(
    table: pl.DataFrame,
    metrics: Sequence[str],
    *,
    possible: tuple[float, float] = (0.0, 1.0),
    count: int = REPLICATES,
) -> Iterator[tuple[float, float]]:
    """The 95% limits of each metric's mean; NaN with a single cluster.

    table: `question_id, cluster` and the metrics, in a fixed order of questions; null and NaN are
    left out. possible: the range in which a mean can lie.
    """
    values = table.select(pl.col(metrics).fill_null(np.nan)).to_numpy()
    sums = means(values, _codes(table))
    if len(sums.above) > MANY:
        yield from (_normal(sums.column(place), possible) for place in range(len(metrics)))
        return
    found = intervals(sums, seed=SEED, count=count, possible=possible)
    yield from ((one.low, one.high) for one in found)


def _normal(sums: Sums, possible: tuple[float, float]) -> tuple[float, float]:
    """The limits of one column's mean, by its standard error."""
    above, below = sums.above.T, sums.below.T
    if above.size < 2:
        return math.nan, math.nan
    reach = 1.96 * float(standard_error(above, below, np.ones(above.shape))[0])
    mean = float(sums.estimate[0])
    return max(possible[0], mean - reach), min(possible[1], mean + reach)


def _codes(table: pl.DataFrame) -> Ints:
    """Every question's cluster, numbered in order."""
    names = table["cluster"].fill_null(table["question_id"]).to_numpy().astype(str)
    codes: Ints = np.unique(names, return_inverse=True)[1].astype(np.int64)
    return codes
