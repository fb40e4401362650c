"""Windows of one length."""

from __future__ import annotations

import numpy as np

from rayeval.chunk.characters import Filled
from rayeval.chunk.units import Units
from rayeval.columns import Ints


def windows(n: int, size: int, overlap: int) -> tuple[Ints, Ints]:
    """[0, size), [size - overlap, …) until the end of `n` units is reached.

    Returns (starts, ends); the last is cut off at `n`, and none lies within the one before it.
    """
    step = size - overlap
    count = 1 + max(0, -(-(n - size) // step)) if n else 0
    starts = np.arange(count, dtype=np.int64) * step
    return starts, np.minimum(starts + size, n)


def spans(units: Units, filled: Filled, *, size: int, overlap: int) -> tuple[Ints, Ints]:
    """Where the windows of a text lie, in characters; one of only white space is left out.

    A window of characters is exact. One of words or tokens loses the white space around it, and
    characters before the first unit, or between two, belong to the unit before them, or the first.
    Returns (starts, ends), ascending in both.
    """
    if units.starts is None:
        starts, ends = windows(units.n_chars, size, overlap)
        kept = filled.end(ends) > starts
        return starts[kept], ends[kept]
    edges = np.concatenate(([0], units.starts[1:], [units.n_chars])).astype(np.int64)
    first, last = windows(len(edges) - 1, size, overlap)
    starts, ends = filled.start(edges[first]), filled.end(edges[last])
    # Units can begin at one character (tokens of an emoji): windows must still move on.
    before = np.maximum.accumulate(np.concatenate(([0], ends[:-1])))
    kept = (ends > starts) & (ends > before)
    return starts[kept], ends[kept]
