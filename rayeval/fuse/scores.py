"""What a hit is worth to fusion, by its place or its score in an arm's list."""

from __future__ import annotations

import numpy as np

from rayeval.columns import Floats, Ints


def reciprocal_rank(rows: Ints, *, k: float) -> Floats:
    """1 / (k + rank) of every hit; ranks count from 1.

    rows: (n_hits,), the question of every hit, sorted, each one's hits best first.
    Source: Cormack, Clarke & Büttcher 2009, doi:10.1145/1571941.1572114.
    """
    first = np.searchsorted(rows, rows)
    return 1 / (k + 1 + np.arange(len(rows)) - first)


def min_max(rows: Ints, scores: Floats, n_rows: int) -> tuple[Floats, Floats]:
    """Scores moved to [0, 1] within each question: 1 its best, 0 its worst.

    rows, scores: (n_hits,), as for `reciprocal_rank`.
    Returns ((n_hits,), 1 where all of a question's scores are equal; (n_rows,), what a chunk that
    the arm did not find is worth: 0).
    """
    low, high = _bounds(rows, scores, n_rows)
    width = (high - low)[rows]
    scaled = np.divide(scores - low[rows], width, out=np.ones(len(rows)), where=width > 0)
    return scaled, np.zeros(n_rows)


def z_score(rows: Ints, scores: Floats, n_rows: int) -> tuple[Floats, Floats]:
    """Scores less their mean, over their standard deviation (population's), within each question.

    rows, scores: (n_hits,), as for `reciprocal_rank`.
    Returns ((n_hits,), 0 where all of a question's scores are equal; (n_rows,), what a chunk that
    the arm did not find is worth: the question's lowest value, 0 where it has none).
    """
    low, high = _bounds(rows, scores, n_rows)
    counts = np.maximum(np.bincount(rows, minlength=n_rows), 1)
    centred = scores - (np.bincount(rows, weights=scores, minlength=n_rows) / counts)[rows]
    spread = np.sqrt(np.bincount(rows, weights=centred**2, minlength=n_rows) / counts)[rows]
    # Of equal scores the rounded mean may differ: their spread is noise, never a divisor.
    varied = (low < high)[rows]
    values = np.divide(centred, spread, out=np.zeros(len(rows)), where=varied)
    return values, _bounds(rows, values, n_rows)[0]


def _bounds(rows: Ints, values: Floats, n_rows: int) -> tuple[Floats, Floats]:
    """(n_rows,) lowest and highest; 0 where there is none."""
    low, high = np.zeros(n_rows), np.zeros(n_rows)
    found, first = np.unique(rows, return_index=True)
    if len(found):
        low[found] = np.minimum.reduceat(values, first)
        high[found] = np.maximum.reduceat(values, first)
    return low, high
