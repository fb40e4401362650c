"""From which end to which every question went: `success → RERANK_DEMOTED_GOLD`."""

from __future__ import annotations

import polars as pl

from rayeval.comparison.pairs import Pairs
from rayeval.report.ended import place
from rayeval.report.tables import Tables
from rayeval.report.whole import ABSENT


def transitions(pairs: Pairs) -> pl.DataFrame:
    """`question_id, before, after, stage_before, stage_after` of every answerable question.

    Before and after are a failure's code, or how the question ended otherwise.
    """
    sides = [_ends(side.run) for side in (pairs.base, pairs.new)]
    table = sides[0].join(sides[1], on="question_id", how="full", coalesce=True, suffix="_new")
    table = table.filter(pl.col("question_id").is_in(pairs.base.ids.implode()))
    return table.select(
        "question_id",
        pl.col("end").fill_null(ABSENT).alias("before"),
        pl.col("end_new").fill_null(ABSENT).alias("after"),
        pl.col("stage").alias("stage_before"),
        pl.col("stage_new").alias("stage_after"),
    ).sort("question_id")


def counted(ends: pl.DataFrame) -> dict[str, int]:
    """`before → after` and how many, most first; what stayed as it was is among them.

    ends: of all questions (report.whole.Whole).
    """
    pairs = (
        ends.filter(pl.col("slice").is_null()).group_by("before", "after").agg(pl.col("n").sum())
    )
    pairs = pairs.sort("n", "before", "after", descending=[True, False, False])
    return {f"{before} → {after}": n for before, after, n in pairs.iter_rows()}


def _ends(run: Tables) -> pl.DataFrame:
    ended = pl.when(pl.col("status") == "failed").then("code").otherwise("status")
    columns = ["question_id", "status", "code", "stage", "observed_stages"]
    return run.select("failures", columns).select("question_id", ended.alias("end"), place())
