"""The questions as columns: what the page filters and sorts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from rayeval.report.ended import place
from rayeval.report.tables import Tables

MOST = 20_000
"""Rows that a page holds; of more questions, those that don't end well come first."""
UNANSWERABLE = "unanswerable"
AUTOMATIC = ("split:", "language:", "origin:", "answerable:")
"""Slices that have a column of their own."""
SHOWN = ["question_id", "question", "language", "origin", "split", "slices"]
FAILURES = ["question_id", "status", "code", "stage", "observed_stages", "reached_stages"]
KEPT, LOST, UNSEEN = "k", "l", "-"


def endings(run: Tables, ids: Sequence[str], stages: Sequence[str]) -> pl.DataFrame:
    """`question_id, ended, stage, marks` of these questions, in their order: how each ended, where
    it failed, and for every stage of the walk whether all its gold was there; one letter each."""
    failures = run.rows("failures", "question_id", ids, FAILURES)
    kept, seen = pl.col("reached_stages"), pl.col("observed_stages")
    letters = [
        pl.when(kept.list.contains(stage)).then(pl.lit(KEPT))
        .when(seen.list.contains(stage)).then(pl.lit(LOST))
        .otherwise(pl.lit(UNSEEN))
        for stage in stages
    ]  # fmt: skip
    ended = pl.when(pl.col("status") == "failed").then("code").otherwise("status")
    marks = pl.concat_str(letters) if letters else pl.lit("")
    table = failures.select("question_id", ended.alias("ended"), place(), marks.alias("marks"))
    asked = run.rows("questions", "question_id", ids, ["question_id"]).join(
        table, on="question_id", how="left"
    ).with_columns(
        pl.col("ended").fill_null(UNANSWERABLE), pl.col("marks").fill_null(UNSEEN * len(stages))
    )  # fmt: skip
    wanted = pl.DataFrame({"question_id": ids}, schema={"question_id": pl.String})
    return wanted.join(asked, on="question_id", how="left", maintain_order="left")


def question_columns(questions: pl.DataFrame) -> dict[str, Any]:
    """What is known of questions, in their order."""
    names = questions["slices"].explode().drop_nulls().unique().sort()
    own = [name for name in names if not name.startswith(AUTOMATIC)]
    number = {name: place for place, name in enumerate(own)}
    return {
        "id": questions["question_id"].to_list(),
        "text": questions["question"].to_list(),
        **{name: coded(questions[name]) for name in ("language", "origin", "split")},
        "slices": {
            "values": own,
            "codes": [
                [number[name] for name in row or () if name in number]
                for row in questions["slices"].to_list()
            ],
        },
    }


def coded(column: pl.Series) -> dict[str, Any]:
    """Distinct values, sorted, and a code per row; −1 for null."""
    values = column.drop_nulls().unique().sort().to_list()
    number = {value: place for place, value in enumerate(values)}
    return {"values": values, "codes": [number.get(value, -1) for value in column.to_list()]}


def chosen(
    run: Tables, first: Sequence[str], aside: Sequence[str] = (), most: int = MOST
) -> tuple[pl.DataFrame, int]:
    """At most `most` of the run's questions, sorted by id: those named `first`, then others; and
    how many there are. aside: those that don't count."""
    every = run.select("questions", ["question_id"])["question_id"]
    every = every.filter(~every.is_in(list(aside)))
    ids = every
    if len(every) > most:
        named = pl.Series("question_id", first[:most], pl.String)
        named = named.filter(named.is_in(every.implode()))
        others = every.filter(~every.is_in(named.implode())).head(most - len(named))
        ids = pl.concat([named, others])
    return run.rows("questions", "question_id", ids.to_list(), SHOWN).sort("question_id"), len(
        every
    )
