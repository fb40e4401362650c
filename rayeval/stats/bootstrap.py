"""Replicates of ratios of sums under the cluster bootstrap, the same bits in any block."""

from __future__ import annotations

import numpy as np

from rayeval.columns import Floats
from rayeval.stats import draws
from rayeval.stats.clusters import Sums, quotient

REPLICATES = 10_000
_CELLS = 1 << 22
"""Draws held at once: 32 MiB."""


def replicates(sums: Sums, *, seed: int, count: int = REPLICATES) -> tuple[Floats, Floats]:
    """Every column's ratio in every replicate, and the estimate by the same arithmetic.

    Replicate r draws as many clusters as there are, with replacement, keyed by (seed, r): all
    columns see the same draw, so they may be compared.
    Returns (count, n_columns), NaN where a replicate drew nothing defined, and (n_columns,).
    """
    above, below = on_grid(sums.above), on_grid(sums.below)
    kinds, of_kind = _distinct(below)
    result = np.empty((count, above.shape[1]))
    for part in blocks(count, len(above)):
        drawn = draws.counts(seed, part, len(above))
        result[part.start : part.stop] = quotient(drawn @ above, (drawn @ kinds)[:, of_kind])
    return result, quotient(above.sum(axis=0), below.sum(axis=0))


def sign_flip_p(sums: Sums, *, seed: int, count: int = REPLICATES) -> Floats:
    """The two-sided p-value of no difference, by flipping the sign of whole clusters.

    sums: of paired differences.
    Returns (n_columns,) in (0, 1]: (1 + replicates at least as far from 0) / (1 + count); NaN
    where there is nothing.
    Source: Phipson & Smyth 2010, doi:10.2202/1544-6115.1585, for the one that is added.
    """
    above = on_grid(sums.above)
    seen = np.abs(above.sum(axis=0))
    beyond = np.zeros(above.shape[1])
    for part in blocks(count, len(above)):
        beyond += (np.abs(draws.signs(seed, part, len(above)) @ above) >= seen).sum(axis=0)
    p = (1 + beyond) / (1 + count)
    p[sums.below.sum(axis=0) == 0] = np.nan
    return p


def on_grid(columns: Floats) -> Floats:
    """Every column rounded to multiples of a power of two, coarse enough to be added exactly.

    A matrix product's last bits depend on its shape and threads. Multiples of one power of two
    whose weighted sums stay below 2⁵³ of them are added without rounding, in any order; what the
    grid takes away is at most 2⁻⁵² of the largest possible sum for each cluster.
    """
    largest = np.abs(columns).max(axis=0, initial=0.0) * max(1, len(columns))
    exponent = np.frexp(np.where(largest > 0, largest, 1.0))[1] - 52
    unit = np.ldexp(1.0, np.maximum(exponent, -1074))  # the least number that there is
    result: Floats = np.round(columns / unit) * unit
    return result


def _distinct(columns: Floats) -> tuple[Floats, list[int]]:
    """Every column once, and which of them each is: a slice's metrics count the same questions."""
    places: dict[bytes, int] = {}
    of_kind = [places.setdefault(column.tobytes(), len(places)) for column in columns.T]
    first = [of_kind.index(kind) for kind in range(len(places))]
    return columns[:, first], of_kind


def blocks(count: int, clusters: int) -> list[range]:
    """The replicates 0 … count − 1 in blocks of bounded memory."""
    step = max(1, _CELLS // max(1, clusters))
    return [range(start, min(count, start + step)) for start in range(0, count, step)]
