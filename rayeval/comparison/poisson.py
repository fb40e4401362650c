"""Paired differences of runs that fit no single machine: sums that add across shards (DESIGN §8).

A shard is any set of questions. Its share is one array, and the shares of all shards added up are
the array of the whole, in whatever order and however the questions are shared out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from rayeval.columns import Floats
from rayeval.comparison.deltas import SCHEMA, Block, adjusted
from rayeval.comparison.direction import direction
from rayeval.comparison.pairs import Bools, Pairs
from rayeval.stats.bootstrap import REPLICATES
from rayeval.stats.clusters import means
from rayeval.stats.intervals import FEW
from rayeval.stats.poisson import Partial, partial
from rayeval.stats.power import detectable

TOTALS = ("base", "new", "change", "n", "rows", "improved", "regressed")
"""What is added up besides the replicates, a row each."""


def share(pairs: Pairs, blocks: Sequence[Block], *, seed: int, count: int = REPLICATES) -> Floats:
    """A shard's share, (3 × count + len(TOTALS), n_columns): a column for every row of `deltas`."""
    base, new, inside, signs = _sides(pairs, blocks)
    change = new - base
    both = ~np.isnan(change)
    names, codes = np.unique(_clusters(pairs), return_inverse=True)
    sums = means(change, codes.astype(np.int64))
    drawn = partial(sums, names.tolist(), seed=seed, count=count)
    better = signs * np.where(both, change, 0.0)
    plain = [np.where(both, each, 0.0).sum(axis=0) for each in (base, new, change)]
    counts = [each.sum(axis=0) for each in (both, inside, better > 1e-12, better < -1e-12)]
    return np.concatenate([drawn.above, drawn.below, drawn.flipped, plain, counts])


def deltas_of(
    total: Floats, pairs: Pairs, blocks: Sequence[Block], *, count: int = REPLICATES
) -> pl.DataFrame:
    """As `deltas.deltas`, from the shares of all shards added up.

    Limits are percentiles of the replicates, for a slice of under FEW clusters there are none, as
    a Poisson bootstrap's would be too narrow. `clusters` are those of the slice's questions; the
    intra-cluster correlation, which needs whole clusters, is null.
    """
    sums = dict(zip(TOTALS, total[3 * count :], strict=True))
    drawn = Partial(*np.split(total[: 3 * count], 3))
    keys = [(part, block.stage, block.metrics[i])
            for block in blocks for part, places in block.parts for i in places]  # fmt: skip
    clusters = {
        part: len(np.unique(pairs.clusters[pairs.inside(part)])) for part, _, _ in set(keys)
    }
    size = np.array([clusters[part] for part, _, _ in keys])
    most = np.array([direction(name).most for _, _, name in keys])
    low, high, spread = _spread(drawn.replicates)
    low, high = (np.where(size < FEW, np.nan, np.clip(each, -most, most)) for each in (low, high))
    base, new, mean = (_divided(sums[name], sums["n"]) for name in ("base", "new", "change"))
    rows = pl.DataFrame(
        {
            **dict(zip(("slice", "stage", "metric"), zip(*keys, strict=True), strict=True)),
            "base": base, "new": new, "mean": mean,
            "low": low, "high": high,
            "method": np.where(np.isnan(low), "none", "poisson"),
            "p": np.where(sums["n"] > 0, drawn.p(sums["change"]), np.nan),
            "p_holm": None,
            "n": sums["n"].astype(np.int64),
            "n_undefined": (sums["rows"] - sums["n"]).astype(np.int64),
            "clusters": size,
            "icc": None,
            "detectable": [detectable(error) for error in spread],
            "improved": sums["improved"].astype(np.int64),
            "regressed": sums["regressed"].astype(np.int64),
        },
        schema=SCHEMA,
    )  # fmt: skip
    return adjusted(rows)


def _sides(pairs: Pairs, blocks: Sequence[Block]) -> tuple[Floats, Floats, Bools, Floats]:
    """Both runs' values, (n_questions, n_columns), NaN outside a column's slice; what is inside,
    the same; and each column's direction."""
    sides: tuple[list[Floats], list[Floats]] = ([], [])
    within: list[Bools] = []
    signs: list[float] = []
    for block in blocks:
        values = [side.values(block.stage, block.metrics) for side in (pairs.base, pairs.new)]
        for part, places in block.parts:
            inside = np.repeat(pairs.inside(part)[:, None], len(places), axis=1)
            for found, each in zip(sides, values, strict=True):
                found.append(np.where(inside, each[:, places], np.nan))
            within.append(inside)
            signs += [direction(block.metrics[i]).sign for i in places]
    base, new = (np.concatenate(found, axis=1) for found in sides)
    return base, new, np.concatenate(within, axis=1), np.array(signs)


def _clusters(pairs: Pairs) -> Sequence[str]:
    """The cluster ids of a shard's questions."""
    questions = pairs.questions
    return questions["cluster"].fill_null(questions["question_id"]).to_list()


def _spread(replicates: Floats) -> Floats:
    """Low and high limit and standard deviation, (3, n_columns); NaN where nothing was drawn."""
    found = np.full((3, replicates.shape[1]), np.nan)
    some = (~np.isnan(replicates)).sum(axis=0) > 1
    drawn = replicates[:, some]
    found[:2, some] = np.nanquantile(drawn, [0.025, 0.975], axis=0)
    found[2, some] = np.nanstd(drawn, axis=0, ddof=1)
    return found


def _divided(above: Floats, below: Floats) -> Floats:
    result: Floats = np.divide(above, below, out=np.full(len(below), np.nan), where=below > 0)
    return result
