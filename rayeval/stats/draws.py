"""What is drawn in replicate r, from a counter-based generator keyed by (seed, r).

So replicates may be made in any order, block or process (Salmon et al. 2011, Philox).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rayeval.columns import Floats

_BOOTSTRAP, _SIGNS = 0, 1
_MASK = (1 << 64) - 1


def counts(seed: int, replicates: range, clusters: int) -> Floats:
    """How often each cluster is drawn when `clusters` of them are drawn with replacement.

    Returns (n_replicates, clusters); every row adds up to `clusters`.
    """
    drawn = np.empty((len(replicates), clusters))
    for row, number in enumerate(replicates):
        places = _generator(seed, number, _BOOTSTRAP).integers(0, clusters, clusters)
        drawn[row] = np.bincount(places, minlength=clusters)
    return drawn


def signs(seed: int, replicates: range, clusters: int) -> Floats:
    """+1 or −1 for every cluster, (n_replicates, clusters)."""
    drawn = np.empty((len(replicates), clusters))
    for row, number in enumerate(replicates):
        data = np.frombuffer(_generator(seed, number, _SIGNS).bytes(clusters // 8 + 1), np.uint8)
        drawn[row] = np.unpackbits(data, count=clusters) * 2.0 - 1
    return drawn


def poisson(seed: int, replicates: range, keys: npt.NDArray[np.uint64]) -> Floats:
    """Poisson(1) weights keyed by (seed, replicate, cluster), (n_replicates, n_keys).

    keys: (n_keys,), one number for each cluster, the same wherever the cluster is met.
    """
    with np.errstate(over="ignore"):
        streams = np.array([_mixed(seed, number) for number in replicates], np.uint64)
        mixed = _scrambled(streams[:, None] ^ keys[None, :])
    uniform = (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.searchsorted(_POISSON, uniform, side="right").astype(np.float64)


def _generator(seed: int, replicate: int, stream: int) -> np.random.Generator:
    key = np.array([seed & _MASK, replicate], np.uint64)
    counter = np.array([0, 0, 0, stream], np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=counter))


def _mixed(seed: int, replicate: int) -> int:
    """One number for (seed, replicate)."""
    both = np.array([seed & _MASK], np.uint64)
    first = _scrambled(both)
    return int(_scrambled(first + np.array([replicate], np.uint64))[0])


def _scrambled(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Every bit of the result depends on every bit of the value.

    Source: Steele, Lea & Flood 2014, doi:10.1145/2660193.2660195; SplitMix64.
    """
    with np.errstate(over="ignore"):
        z = values + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def _poisson_table() -> Floats:
    """P(X ≤ 0), P(X ≤ 1), … of Poisson(1), until nothing is left of 1."""
    terms = np.exp(-1.0) / np.cumprod(np.maximum(1, np.arange(24)).astype(np.float64))
    total: Floats = np.cumsum(terms)
    return total[total < 1.0]


_POISSON = _poisson_table()
