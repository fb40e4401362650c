"""Questions dealt out to splits by what they share, never one by one at random.

Questions that share a value (a source, a tenant, an entity …) are one group and stay together; a
question with several values joins their groups. Where a group goes depends on the seed and on the
group's own name (the first of its values) alone, so new questions move no old ones unless they tie
two groups together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import accumulate

import numpy as np
import polars as pl
from scipy import sparse
from scipy.sparse import csgraph

from rayeval.columns import Ints


def groups(values: pl.DataFrame, n_questions: int) -> Ints:
    """(n_questions,), the group of each: questions tied by values, directly or not.

    values: `row` of a question, `value`; a question without any is a group of its own.
    """
    kinds = values["value"].rank("dense").to_numpy().astype(np.int64) - 1
    size = n_questions + int(kinds.max(initial=-1)) + 1
    ties = (np.ones(len(kinds)), (values["row"].to_numpy(), n_questions + kinds))
    graph = sparse.coo_array(ties, shape=(size, size))
    labels: Ints = csgraph.connected_components(graph, directed=False)[1].astype(np.int64)
    return np.unique(labels[:n_questions], return_inverse=True)[1]


def dealt(names: Sequence[str], ratios: Mapping[str, float], *, seed: int) -> list[str]:
    """The split of each group, by its name.

    ratios: split → share, any positive numbers; a group falls where its draw in [0, 1) does.
    """
    bounds = list(accumulate(ratios.values()))
    splits = list(ratios)
    drawn = {name: _draw(name, seed) * bounds[-1] for name in set(names)}
    at = {name: np.searchsorted(bounds, draw, side="right") for name, draw in drawn.items()}
    return [splits[min(int(at[name]), len(splits) - 1)] for name in names]


def by_time(times: Sequence[datetime], ratios: Mapping[str, float]) -> list[str]:
    """The oldest questions to the first split, and so on; those of one moment stay together.

    Each split begins at the first question past its share of all.
    """
    ordered = sorted(times)
    bounds = np.array(list(accumulate(ratios.values())))
    cuts = np.ceil(bounds / bounds[-1] * len(ordered) - 1e-9).astype(int)[:-1]
    starts = [ordered[cut] if cut < len(ordered) else None for cut in cuts]
    splits = list(ratios)
    return [splits[sum(s is not None and moment >= s for s in starts)] for moment in times]


def _draw(name: str, seed: int) -> float:
    """A number in [0, 1) that the name and the seed decide."""
    digest = hashlib.sha256(f"{seed}\0{name}".encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56
