"""How well a score tells questions that have an answer from those that have none.

score: (n,), of the best hit; −inf where nothing was found. No NaN.
"""

from __future__ import annotations

import math

import numpy as np

from rayeval.columns import Floats
from rayeval.metrics.spans import Bools


def auroc(score: Floats, answerable: Bools) -> float:
    """The chance that an answerable question scores above an unanswerable one, ties counted half.

    Returns a number in [0, 1]; NaN without questions of both kinds.
    Source: Hanley & McNeil 1982, doi:10.1148/radiology.143.1.7063747.
    """
    n, m = int(answerable.sum()), int((~answerable).sum())
    if not n or not m:
        return math.nan
    _, at, counts = np.unique(score, return_inverse=True, return_counts=True)
    rank = (np.cumsum(counts) - (counts - 1) / 2)[at]
    return float((rank[answerable].sum() - n * (n + 1) / 2) / (n * m))


def threshold(score: Floats, answerable: Bools) -> float:
    """The score below which to refuse: where right refusals exceed false ones by most.

    Youden's J, the share of unanswerable questions below it less that of answerable ones; of
    equals the lowest, which refuses least. Always one of the scores.
    Returns NaN without questions of both kinds, or without any hit.
    Source: Youden 1950, doi:10.1002/1097-0142(1950)3:1<32::AID-CNCR2820030106>3.0.CO;2-3.
    """
    there = np.unique(score[np.isfinite(score)])
    if not len(there) or answerable.all() or not answerable.any():
        return math.nan
    below = [
        np.searchsorted(np.sort(score[kind]), there, side="left") / kind.sum()
        for kind in (~answerable, answerable)
    ]
    return float(there[np.argmax(below[0] - below[1])])


def risk_coverage(score: Floats, loss: Floats) -> tuple[Floats, Floats, Floats]:
    """What goes wrong when only questions that score at least so much are answered.

    loss: (n,), in [0, 1].
    Returns thresholds, descending, the share of questions at each or above, and their mean loss;
    questions of equal scores come in together.
    Source: El-Yaniv & Wiener 2010, https://jmlr.org/papers/v11/el-yaniv10a.html.
    """
    order = np.argsort(-score, kind="stable")
    ordered = score[order]
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True)[: len(score)])
    total = np.cumsum(loss[order])[last]
    return ordered[last], (last + 1) / max(1, len(score)), total / (last + 1)


def area(coverage: Floats, risk: Floats) -> float:
    """The mean risk over all coverages, in [0, 1], lower is better; NaN without questions."""
    return float((np.diff(coverage, prepend=0.0) * risk).sum()) if len(risk) else math.nan
