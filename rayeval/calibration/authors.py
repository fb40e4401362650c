"""Whom a judge is kinder to than people are: to some authors of what it judges, and to itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from rayeval.calibration.labels import Paired
from rayeval.columns import Floats
from rayeval.errors import ConfigError
from rayeval.stats import agreement as agreed
from rayeval.stats.quantiles import percentile_interval

Bools = npt.NDArray[np.bool_]


def by_author(paired: Paired, cut: int, itself: str | None, seed: int) -> dict[str, Any]:
    """`authors`: of each one's items, the share that people and the judge call positive, and what
    the judge has over people. `self_preference`: that of `itself` over that of all others, with
    its interval; 0 where a judge is no kinder to what it wrote itself, `flagged` where it is for
    sure: the whole interval lies above 0.

    cut: the place on the scale from which on an item is positive. Nothing where no item has an
    author. Raises ConfigError if `itself` is none of them.
    Source: Panickssery et al. 2024, arXiv:2404.13076, held against people's labels.
    """
    authors = paired.groups["author"]
    known = sorted(authors.drop_nulls().unique().to_list())
    if itself is not None and itself not in known:
        said = ", ".join(known) or "no item has an `author`"
        raise ConfigError(f"--itself {itself!r} is no author of a labelled item: {said}")
    if not known:
        return {}
    theirs = {name: authors.eq_missing(name).to_numpy() for name in known}
    found: dict[str, Any] = {
        "authors": {name: _author(paired, mine, cut) for name, mine in theirs.items()}
    }
    if itself is not None:
        others = authors.is_not_null().to_numpy() & ~theirs[itself]
        found["self_preference"] = _preference(paired, theirs[itself], others, cut, seed)
    return found


def _author(paired: Paired, mine: Bools, cut: int) -> dict[str, Any]:
    table = _tables(paired, mine).sum(axis=0)
    people, judge = (float(table.sum(axis=a)[cut:].sum() / table.sum()) for a in (1, 0))
    return {
        "n": paired.items.filter(pl.Series(mine)).n_unique(),
        "people": people,
        "judge": judge,
        "excess": judge - people,
    }


def _preference(
    paired: Paired, mine: Bools, others: Bools, cut: int, seed: int
) -> dict[str, float | bool | None]:
    own, rest = _tables(paired, mine), _tables(paired, others)
    value = _excess(own.sum(axis=0), cut) - _excess(rest.sum(axis=0), cut)
    drawn = [_excess(agreed.replicated(each, seed=seed), cut) for each in (own, rest)]
    apart = (drawn[0] - drawn[1])[~np.isnan(drawn[0] - drawn[1])]
    if np.isnan(value) or len(own) < 2 or not len(apart):
        known = None if np.isnan(value) else float(value)
        return {"value": known, "low": None, "high": None, "flagged": None}
    low, high = percentile_interval(apart)
    limits = {"low": float(low), "high": float(high)}
    return {"value": float(value), **limits, "flagged": bool(low > 0)}


def _tables(paired: Paired, some: Bools) -> Floats:
    """As `agreement.tables`, of some of the items, over the clusters of all."""
    weights = np.where(some, paired.weights, 0.0)
    places = paired.human, paired.judge, paired.clusters
    return agreed.tables(*places, len(paired.scale.labels), weights)


def _excess(table: Floats, cut: int) -> Floats:
    """The share that the judge calls positive, less the share that people do.

    table: (…, k, k). Returns (…,); NaN of nothing.
    """
    n = table.sum(axis=(-2, -1))
    more = table[..., :, cut:].sum(axis=(-2, -1)) - table[..., cut:, :].sum(axis=(-2, -1))
    found: Floats = np.divide(more, n, out=np.full(np.shape(n), np.nan), where=n > 0)
    return found
