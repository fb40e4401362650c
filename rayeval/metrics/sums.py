"""Sums of floating-point numbers without any rounding, so that their order can't matter."""

from __future__ import annotations

import math

import numpy as np

from rayeval.columns import Floats, Ints

SCALE = 1126
"""Every double is a whole number of 2^-1126."""


def exact_sums(values: Floats, group: Ints, n_groups: int) -> list[int]:
    """The sum of every group's values as a whole number of 2^-1126.

    values, group: (n,), finite values and the group of each, in any order.
    Whole numbers add up exactly: sums of parts, added, are the sum of all.
    """
    mantissa, exponent = np.frexp(values)
    whole = (mantissa * 2.0**53).astype(np.int64)
    shift = exponent.astype(np.int64) - 53 + SCALE
    key = group * 4096 + shift
    order = np.argsort(key, kind="stable")
    key, whole = key[order], whole[order]
    first = np.flatnonzero(np.append(True, key[1:] != key[:-1])[: len(key)])
    sums = [0] * n_groups
    if len(first):
        # Two halves, so that 2^36 addends can't overflow.
        high = np.add.reduceat(whole >> 26, first).tolist()
        low = np.add.reduceat(whole & (2**26 - 1), first).tolist()
        for code, upper, lower in zip(key[first].tolist(), high, low, strict=True):
            sums[code // 4096] += ((upper << 26) + lower) << (code % 4096)
    return sums


def mean(total: int, n: int) -> float:
    """`total` (from `exact_sums`) over `n` values, rounded once; NaN of none."""
    return total / (n << SCALE) if n else math.nan
