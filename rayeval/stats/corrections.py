"""Many claims at once."""

from __future__ import annotations

import numpy as np
from scipy import stats

from rayeval.columns import Floats


def holm(p: Floats) -> Floats:
    """P-values adjusted so that one false claim among all of them has at most that chance.

    p: (n,); NaN is not a claim: it stays, and is not counted.
    Source: Holm 1979, A Simple Sequentially Rejective Multiple Test Procedure.
    """
    adjusted = np.full(len(p), np.nan)
    there = np.flatnonzero(~np.isnan(p))
    order = there[np.argsort(p[there], kind="stable")]
    steps = len(order) - np.arange(len(order))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * steps))
    return adjusted


def benjamini_hochberg(p: Floats) -> Floats:
    """P-values adjusted so that of the claims made that share is false on average.

    p: (n,); NaN as in `holm`.
    Source: Benjamini & Hochberg 1995, doi:10.1111/j.2517-6161.1995.tb02031.x.
    """
    adjusted = np.full(len(p), np.nan)
    there = ~np.isnan(p)
    if there.any():
        adjusted[there] = stats.false_discovery_control(p[there])
    return adjusted
