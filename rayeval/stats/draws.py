"""What is drawn in replicate r: numbers that depend on (seed, r) and nothing else.

So replicates may be made in any order, block or process. Number i of a replicate is output i of
SplitMix64 from a state that mixes seed and r: a counter-based generator, for whole blocks at once.
Source: Steele, Lea & Flood 2014, doi:10.1145/2660193.2660195.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from rayeval.columns import Floats

Words = npt.NDArray[np.uint64]
Small = npt.NDArray[np.integer]
_BOOTSTRAP, _SIGNS, _POISSON, _FLIPS = 1, 2, 3, 4
"""What is drawn for one purpose says nothing of another."""
_STEP = 0x9E3779B97F4A7C15
_KEPT = 64
"""Blocks of draws kept, as small numbers: every stage asks for those of each slice again."""


def counts(seed: int, replicates: range, clusters: int) -> Floats:
    """How often each cluster is drawn when `clusters` of them are drawn with replacement.

    Returns (n_replicates, clusters); every row adds up to `clusters`.
    """
    return _kept_counts(seed, replicates, clusters).astype(np.float64)


def signs(seed: int, replicates: range, clusters: int) -> Floats:
    """+1 or −1 for every cluster, (n_replicates, clusters)."""
    return _kept_signs(seed, replicates, clusters).astype(np.float64)


def poisson(seed: int, replicates: range, keys: Words) -> Floats:
    """Poisson(1) weights keyed by (seed, replicate, cluster), (n_replicates, n_keys).

    keys: (n_keys,), one number for each cluster, the same wherever the cluster is met.
    """
    mixed = _keyed(seed, replicates, keys, _POISSON)
    uniform = (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return np.searchsorted(_TABLE, uniform, side="right").astype(np.float64)


def flips(seed: int, replicates: range, keys: Words) -> Floats:
    """+1 or −1 keyed by (seed, replicate, cluster), (n_replicates, n_keys); keys: as above."""
    bits = _keyed(seed, replicates, keys, _FLIPS) >> np.uint64(63)
    drawn: Floats = bits.astype(np.float64) * 2.0 - 1
    return drawn


def _keyed(seed: int, replicates: range, keys: Words, stream: int) -> Words:
    """64 random bits for every replicate and key."""
    return _scrambled(_states(seed, replicates, stream)[:, None] ^ keys[None, :])


@lru_cache(maxsize=_KEPT)
def _kept_counts(seed: int, replicates: range, clusters: int) -> Small:
    words = _words(seed, replicates, clusters, _BOOTSTRAP)
    places = ((words >> np.uint64(32)) * np.uint64(clusters)) >> np.uint64(32)
    places += np.arange(len(replicates), dtype=np.uint64)[:, None] * np.uint64(clusters)
    drawn = np.bincount(places.ravel().astype(np.int64), minlength=len(replicates) * clusters)
    least = np.min_scalar_type(int(drawn.max(initial=0)))  # a byte, but for a miracle
    return drawn.reshape(len(replicates), clusters).astype(least)


@lru_cache(maxsize=_KEPT)
def _kept_signs(seed: int, replicates: range, clusters: int) -> Small:
    words = _words(seed, replicates, clusters // 64 + 1, _SIGNS).astype("<u8")
    bits = np.unpackbits(words.view(np.uint8), axis=1, count=clusters)
    drawn: Small = bits.astype(np.int8) * np.int8(2) - np.int8(1)
    return drawn


def _words(seed: int, replicates: range, n: int, stream: int) -> Words:
    """(n_replicates, n) numbers of 64 random bits."""
    steps = np.arange(n, dtype=np.uint64) * np.uint64(_STEP)
    return _scrambled(_states(seed, replicates, stream)[:, None] + steps[None, :])


def _states(seed: int, replicates: range, stream: int) -> Words:
    """Where each replicate's numbers begin, (n_replicates,)."""
    start = np.array([(seed + stream * _STEP) % 2**64], np.uint64)
    numbers = np.arange(replicates.start, replicates.stop, dtype=np.uint64)
    return _scrambled(_scrambled(start) ^ _scrambled(numbers))


def _scrambled(values: Words) -> Words:
    """Every bit of the result depends on every bit of the value."""
    z = values + np.uint64(_STEP)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _poisson_table() -> Floats:
    """P(X ≤ 0), P(X ≤ 1), … of Poisson(1), until nothing is left of 1."""
    terms = np.exp(-1.0) / np.cumprod(np.maximum(1, np.arange(24)).astype(np.float64))
    total: Floats = np.cumsum(terms)
    return total[total < 1.0]


_TABLE = _poisson_table()
