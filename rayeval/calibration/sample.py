"""Items for people to label: by strata, low scores more often, every chance of being drawn kept."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import polars as pl

from rayeval.calibration.items import SCALES
from rayeval.columns import Floats, Ints

OFTENER = 3.0
"""So many times as often as its share, an item is drawn whose verdict is not the best one: people
learn most where a judge finds fault, and there is little of it."""


def draw(
    items: pl.DataFrame, task: str, n: int, *, seed: int, by: Sequence[str] = ()
) -> pl.DataFrame:
    """`n` of the items (all, if there are fewer), with `inclusion_probability`, by item id.

    Strata are verdict × language × the columns `by`. Within one, items are drawn at random without
    replacement, by a hash of (seed, item id): what is drawn doesn't depend on the order of items.
    At least one of each is drawn, also beyond `n`: what can't be drawn, labels can't speak of.
    """
    best = SCALES[task][-1]
    keys = ["verdict", "language", *by]
    strata = items.group_by(keys).len("size").sort(keys, nulls_last=True)
    wanted = strata["size"].to_numpy() * np.where(strata["verdict"] == best, 1.0, OFTENER)
    taken = _dealt(n, strata["size"].to_numpy(), wanted)
    strata = strata.with_columns(taken=pl.Series(taken, dtype=pl.Int64))
    order = [keyed(seed, name) for name in items["item_id"]]
    ranked = items.with_columns(order=pl.Series(order, dtype=pl.String)).join(
        strata, on=keys, nulls_equal=True
    )
    place = pl.col("order").rank("ordinal").over(keys)
    drawn = ranked.filter(place <= pl.col("taken")).with_columns(
        inclusion_probability=pl.col("taken") / pl.col("size")
    )
    return drawn.drop("order", "size", "taken").sort("item_id")


def _dealt(n: int, sizes: Ints, wanted: Floats) -> Ints:
    """How many of each stratum: in proportion to `wanted`, at least one, at most all."""
    taken = np.minimum(sizes, 1)
    while (left := n - int(taken.sum())) > 0 and (taken < sizes).any():
        open_ = np.where(taken < sizes, wanted, 0.0)
        ideal = taken + open_ / open_.sum() * left
        more = np.minimum(sizes, np.floor(ideal).astype(np.int64)) - taken
        if not more.any():  # the last few, one each to those that are owed most
            owed = np.argsort(-np.where(taken < sizes, ideal - taken, -1.0), kind="stable")
            more[owed[: min(left, int((taken < sizes).sum()))]] = 1
        taken = taken + more
    return taken


def keyed(seed: object, name: str) -> str:
    """What orders names at random, the same for any order in which they come."""
    return hashlib.sha256(f"{seed}\0{name}".encode("utf-8", "surrogatepass")).hexdigest()
