"""Where each run puts gold, and the unjudged hits on which they differ (DESIGN §5)."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from rayeval.comparison.pairs import Pairs
from rayeval.metrics.config import Metrics
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
    depth = shared_depth(pairs)
    return _movement([_within(gold_ranks(run, *_asked(pairs)), depth) for run in _runs(pairs)])


def unjudged_differences(pairs: Pairs) -> pl.DataFrame:
    """`question_id, stage, chunk_id, base, new`: unjudged hits in the top TOP of one run and not of
    the other, with their ranks; the rank is null in the run whose top lacks it.

    What a hit is decides, not its id: of two passages that both runs call alike each has a row.
    """
    top = min(TOP, shared_depth(pairs) or TOP)
    return _differences([unjudged(run, *_asked(pairs), top) for run in _runs(pairs)])


def ranks_and_unjudged(pairs: Pairs) -> tuple[pl.DataFrame, pl.DataFrame]:
    """`rank_movement` and `unjudged_differences`, reading both runs once."""
    depth = shared_depth(pairs)
    top = min(TOP, depth or TOP)
    sides = [gold_and_unjudged(run, *_asked(pairs), top) for run in _runs(pairs)]
    ranks, open_ = zip(*sides, strict=True)
    return _movement([_within(side, depth) for side in ranks]), _differences(open_)


def shared_depth(pairs: Pairs) -> int | None:
    """Down to which rank both runs have their hits, where one of them kept fewer than the other.

    A run of somebody's trace keeps as many as its metrics look at: below that nobody knows what it
    found.
    """
    depths = [_kept(run) for run in _runs(pairs)]
    return None if depths[0] == depths[1] else min(depth for depth in depths if depth is not None)


def _kept(run: Tables) -> int | None:
    """How many hits of a list the run kept; None: all that there were."""
    config = run.manifest["config"]
    trace = config.get("trace")
    if trace is None or trace.get("keep"):
        return None
    return Metrics.model_validate(config["metrics"]).depth


def _within(ranks: pl.DataFrame, depth: int | None) -> pl.DataFrame:
    """Without ranks below `depth`."""
    if depth is None:
        return ranks
    return ranks.with_columns(rank=pl.when(pl.col("rank") <= depth).then("rank"))


def _runs(pairs: Pairs) -> tuple[Tables, Tables]:
    return pairs.base.run, pairs.new.run


def _asked(pairs: Pairs) -> tuple[list[str], tuple[str, ...]]:
    return pairs.base.ids.to_list(), pairs.stages


def _movement(sides: Sequence[pl.DataFrame]) -> pl.DataFrame:
    keys = ["question_id", "group_id", "stage"]
    return _joined(sides, keys).sort(keys).with_columns(moved=moved())


def _differences(sides: Sequence[pl.DataFrame]) -> pl.DataFrame:
    keys = ["question_id", "stage", "passage"]
    first = [side.sort("rank").unique(keys, keep="first", maintain_order=True) for side in sides]
    called = pl.coalesce("chunk_id", "chunk_id_right").alias("chunk_id")
    table = _joined(first, keys).select("question_id", "stage", called, "base", "new")
    one = table.filter(pl.col("base").is_null() != pl.col("new").is_null())
    return one.sort("question_id", "stage", "chunk_id", "base", "new")


def _joined(sides: Sequence[pl.DataFrame], keys: list[str]) -> pl.DataFrame:
    before, after = (
        side.rename({"rank": name}) for side, name in zip(sides, ("base", "new"), strict=True)
    )
    return before.join(after, on=keys, how="full", coalesce=True)
