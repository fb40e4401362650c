"""The questions as columns: what the page filters and sorts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl

from rayeval.report.tables import Tables

MOST = 20_000
"""Rows that a page holds; of more questions, those that don't end well come first."""
UNANSWERABLE = "unanswerable"
AUTOMATIC = ("split:", "language:", "origin:", "answerable:")
"""Slices that have a column of their own."""
KEPT, LOST, UNSEEN = "k", "l", "-"


def endings(run: Tables) -> pl.DataFrame:
    """`question_id, ended, stage, marks` of every question: how it ended, where it failed, and for
    every stage of the walk whether all its gold was there; one letter each."""
    stages = walked(run)
    failures = run.failures
    kept, seen = pl.col("reached_stages"), pl.col("observed_stages")
    letters = [
        pl.when(kept.list.contains(stage)).then(pl.lit(KEPT))
        .when(seen.list.contains(stage)).then(pl.lit(LOST))
        .otherwise(pl.lit(UNSEEN))
        for stage in stages
    ]  # fmt: skip
    ended = pl.when(pl.col("status") == "failed").then("code").otherwise("status")
    marks = pl.concat_str(letters) if letters else pl.lit("")
    table = failures.select("question_id", ended.alias("ended"), "stage", marks.alias("marks"))
    found = run.questions.select("question_id").join(table, on="question_id", how="left")
    return found.with_columns(
        pl.col("ended").fill_null(UNANSWERABLE), pl.col("marks").fill_null(UNSEEN * len(stages))
    ).sort("question_id")


def walked(run: Tables) -> list[str]:
    """Every stage that some question's walk observed, in order."""
    seen = run.failures["observed_stages"].explode().drop_nulls()
    return [str(stage) for stage in seen.unique(maintain_order=True)]


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


def chosen(questions: pl.DataFrame, first: Sequence[str], most: int = MOST) -> pl.DataFrame:
    """At most `most` questions, sorted by id: those named `first`, then others."""
    if questions.height <= most:
        return questions.sort("question_id")
    named = questions["question_id"].is_in(list(first))
    order = pl.concat([questions.filter(named), questions.filter(~named)])
    return order.head(most).sort("question_id")
