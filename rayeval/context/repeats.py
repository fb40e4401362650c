"""Which hits say nothing new."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from rayeval.columns import Ints


def repeats(
    texts: Ints, hits: Ints, starts: Ints, ends: Ints, n_hits: int
) -> npt.NDArray[np.bool_]:
    """Whether every character of a hit stands in earlier hits of the same text.

    texts, hits, starts, ends: (n_spans,), what each span lies in, the hit that it belongs to, and
    its characters [start, end), none empty. A hit is earlier when its number is smaller; a text
    (one source's revision, of one question) has no hits of another.
    Returns (n_hits,); False for a hit without spans.
    """
    repeated = np.zeros(n_hits, bool)
    repeated[hits] = True
    # The bounds of all spans cut the texts into segments; each is new to the first hit over it.
    width = ends.max(initial=0) + 1
    cuts = np.unique(np.concatenate([texts * width + starts, texts * width + ends]))
    start = np.searchsorted(cuts, texts * width + starts)
    covered = np.searchsorted(cuts, texts * width + ends) - start
    skipped = np.cumsum(covered) - covered
    segment = np.arange(covered.sum()) + np.repeat(start - skipped, covered)
    first = np.full(len(cuts), n_hits)
    np.minimum.at(first, segment, np.repeat(hits, covered))
    repeated[first[first < n_hits]] = False
    return repeated
