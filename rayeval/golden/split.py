"""Questions dealt out to splits by what they share, never one by one at random.

Questions that share a value (a source, a tenant, an entity …) are one group and stay together; a
question with several values joins their groups. Where a group goes depends on the seed and on the
group's own name (the first of its values) alone, so new questions move no old ones unless they tie
two groups together.
"""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_left, bisect_right
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
    at = {name: bisect_right(bounds, _draw(name, seed) * bounds[-1]) for name in set(names)}
    return [splits[min(at[name], len(splits) - 1)] for name in names]


def by_time(times: Sequence[datetime], ratios: Mapping[str, float]) -> list[str]:
    """The oldest questions to the first split, and so on; those of one moment stay together.

    A moment is of the split that its first question falls into.
    """
    ordered = sorted(times)
    bounds = list(accumulate(ratios.values()))
    cuts = [math.ceil(bound / bounds[-1] * len(ordered) - 1e-9) for bound in bounds[:-1]]
    splits = list(ratios)
    first = [bisect_left(ordered, moment) for moment in times]
    return [splits[sum(number >= cut for cut in cuts)] for number in first]


def _draw(name: str, seed: int) -> float:
    """A number in [0, 1) that the name and the seed decide."""
    digest = hashlib.sha256(f"{seed}\0{name}".encode()).digest()
    return int.from_bytes(digest[:7], "big") / 2**56
