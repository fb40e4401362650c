"""Where each run puts gold, and the unjudged hits on which they differ (DESIGN §5)."""

from __future__ import annotations

import polars as pl

from rayeval.comparison.pairs import Pairs, Side
from rayeval.report.gold import gold_ranks, unjudged

TOP = 10
"""Unjudged hits further down are not listed."""


def rank_movement(pairs: Pairs) -> pl.DataFrame:
    """`question_id, group_id, stage, base, new, moved` of every gold group at every shared stage.

    base, new: the rank of the first hit that finds it, null where none does. moved: `up`, `down`,
    `entered`, `left`, `same`, or `absent` from both.
    """
    stages, ids = pairs.stages, pairs.base.ids.to_list()
    sides = [gold_ranks(side.run, ids, stages) for side in (pairs.base, pairs.new)]
    before, after = (
        side.rename({"rank": name}) for side, name in zip(sides, ("base", "new"), strict=True)
    )
    keys = ["question_id", "group_id", "stage"]
    table = before.join(after, on=keys, how="full", coalesce=True).sort(keys)
    base, new = pl.col("base"), pl.col("new")
    moved = (
        pl.when(base.is_null() & new.is_null()).then(pl.lit("absent"))
        .when(base.is_null()).then(pl.lit("entered"))
        .when(new.is_null()).then(pl.lit("left"))
        .when(new < base).then(pl.lit("up"))
        .when(new > base).then(pl.lit("down"))
        .otherwise(pl.lit("same"))
    )  # fmt: skip
    return table.with_columns(moved=moved)


def unjudged_differences(pairs: Pairs) -> pl.DataFrame:
    """`question_id, stage, chunk_id, base, new`: unjudged hits in the top TOP of one run and not of
    the other, with their ranks; the rank is null in the run whose top lacks it."""
    parts = [_top(side, pairs) for side in (pairs.base, pairs.new)]
    keys = ["question_id", "stage", "chunk_id"]
    before, after = (
        part.rename({"rank": name}) for part, name in zip(parts, ("base", "new"), strict=True)
    )
    table = before.join(after, on=keys, how="full", coalesce=True)
    return table.filter(pl.col("base").is_null() != pl.col("new").is_null()).sort(keys)


def _top(side: Side, pairs: Pairs) -> pl.DataFrame:
    return unjudged(side.run, pairs.base.ids.to_list(), pairs.stages, TOP)
