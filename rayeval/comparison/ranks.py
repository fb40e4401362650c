"""Where each run puts gold, and the unjudged hits on which they differ (DESIGN §5)."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from rayeval.comparison.pairs import Pairs
from rayeval.report.gold import gold_and_unjudged, gold_ranks, unjudged
from rayeval.report.tables import Tables
from rayeval.report.whole import moved

TOP = 10
"""Unjudged hits further down are not listed."""


def rank_movement(pairs: Pairs) -> pl.DataFrame:
    """`question_id, group_id, stage, base, new, moved` of every gold group at every shared stage.

    base, new: the rank of the first hit that finds it, null where none does. moved: `up`, `down`,
    `entered`, `left`, `same`, or `absent` from both.
    """
    return _movement([gold_ranks(run, *_asked(pairs)) for run in _runs(pairs)])


def unjudged_differences(pairs: Pairs) -> pl.DataFrame:
    """`question_id, stage, chunk_id, base, new`: unjudged hits in the top TOP of one run and not of
    the other, with their ranks; the rank is null in the run whose top lacks it."""
    return _differences([unjudged(run, *_asked(pairs), TOP) for run in _runs(pairs)])


def ranks_and_unjudged(pairs: Pairs) -> tuple[pl.DataFrame, pl.DataFrame]:
    """`rank_movement` and `unjudged_differences`, reading both runs once."""
    sides = [gold_and_unjudged(run, *_asked(pairs), TOP) for run in _runs(pairs)]
    ranks, open_ = zip(*sides, strict=True)
    return _movement(ranks), _differences(open_)


def _runs(pairs: Pairs) -> tuple[Tables, Tables]:
    return pairs.base.run, pairs.new.run


def _asked(pairs: Pairs) -> tuple[list[str], tuple[str, ...]]:
    return pairs.base.ids.to_list(), pairs.stages


def _movement(sides: Sequence[pl.DataFrame]) -> pl.DataFrame:
    keys = ["question_id", "group_id", "stage"]
    return _joined(sides, keys).sort(keys).with_columns(moved=moved())


def _differences(sides: Sequence[pl.DataFrame]) -> pl.DataFrame:
    keys = ["question_id", "stage", "chunk_id"]
    table = _joined(sides, keys)
    return table.filter(pl.col("base").is_null() != pl.col("new").is_null()).sort(keys)


def _joined(sides: Sequence[pl.DataFrame], keys: list[str]) -> pl.DataFrame:
    before, after = (
        side.rename({"rank": name}) for side, name in zip(sides, ("base", "new"), strict=True)
    )
    return before.join(after, on=keys, how="full", coalesce=True)
