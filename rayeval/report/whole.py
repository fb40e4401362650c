"""All questions of a comparison in counts, and a bounded number of them by name.

The wholes of shards (questions from one id to another) merge into that of all their questions, in
the order of the ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

LISTED = 20_000
"""Questions that a comparison lists; of more it lists those that matter most."""
NEAREST = 5_000
"""Of more than LISTED questions, the rows kept of each stage's ranks and unjudged hits."""
NAMED = 500
"""Ids named of each way to end."""
SUCCESS, WON, LOST, MOVED, SAME = "success", "won", "lost", "moved", "same"
ABSENT = "not answerable"
"""How a question ends in a run in which it has no gold."""
WAY = ["slice", "before", "after", "stage_after"]
ORDER = {LOST: 0, MOVED: 1, WON: 2, SAME: 3}
"""Worst first."""


@dataclass(frozen=True)
class Whole:
    """What is said of all questions, however few of them are listed."""

    ends: pl.DataFrame
    """A row per `slice` (null: all questions), `before`, `after`, `stage_after`: `n` questions, and
    `ids`: the first NAMED of them."""
    moves: pl.DataFrame
    """`stage, base, new, moved, n`: gold groups with these ranks."""
    open: pl.DataFrame
    """`stage, hits, questions`: unjudged hits on which the runs differ."""


def whole_of(
    transitions: pl.DataFrame, ranks: pl.DataFrame, unjudged: pl.DataFrame, slices: pl.DataFrame
) -> Whole:
    """Of the complete tables of a comparison, by question. slices: `question_id, slices`."""
    one = transitions.join(slices, on="question_id", how="inner").sort("question_id")
    every = one.explode("slices").rename({"slices": "slice"}).drop_nulls("slice")
    ends = pl.concat([one.with_columns(slice=pl.lit(None, pl.String)).drop("slices"), every],
                     how="diagonal")  # fmt: skip
    return Whole(
        ends.group_by(WAY, maintain_order=True)
        .agg(n=pl.len().cast(pl.Int64), ids=pl.col("question_id").head(NAMED))
        .sort(WAY),
        moves_of(ranks),
        unjudged.group_by("stage", maintain_order=True).agg(
            hits=pl.len().cast(pl.Int64), questions=pl.col("question_id").n_unique().cast(pl.Int64)
        ),
    )


def merged(wholes: Sequence[Whole]) -> Whole:
    """Of shards, in the order of their ids."""
    ends, moves, open_ = (
        pl.concat(getattr(each, name) for each in wholes) for name in ("ends", "moves", "open")
    )
    return Whole(
        ends.group_by(WAY, maintain_order=True)
        .agg(pl.col("n").sum(), pl.col("ids").explode().drop_nulls().head(NAMED))
        .sort(WAY),
        moves.group_by("stage", "base", "new", "moved", maintain_order=True).agg(pl.col("n").sum()),
        open_.group_by("stage", maintain_order=True).agg(pl.col("hits", "questions").sum()),
    )


def moves_of(ranks: pl.DataFrame) -> pl.DataFrame:
    """`stage, base, new, moved, n` of a table with a row per gold group and stage."""
    rows = ranks.with_columns(moved=moved())
    return rows.group_by("stage", "base", "new", "moved", maintain_order=True).agg(
        n=pl.len().cast(pl.Int64)
    )


def moved() -> pl.Expr:
    """`up`, `down`, `entered`, `left`, `same`, or `absent` from both; null ranks are not found."""
    base, new = pl.col("base"), pl.col("new")
    return (
        pl.when(base.is_null() & new.is_null()).then(pl.lit("absent"))
        .when(base.is_null()).then(pl.lit("entered"))
        .when(new.is_null()).then(pl.lit("left"))
        .when(new < base).then(pl.lit("up"))
        .when(new > base).then(pl.lit("down"))
        .otherwise(pl.lit("same"))
    )  # fmt: skip


def change() -> pl.Expr:
    """`won` and `lost` by whether all the question's gold reached the end."""
    return (
        pl.when(pl.col("before") == pl.col("after")).then(pl.lit(SAME))
        .when(pl.col("after") == SUCCESS).then(pl.lit(WON))
        .when(pl.col("before") == SUCCESS).then(pl.lit(LOST))
        .otherwise(pl.lit(MOVED))
    )  # fmt: skip


def worst_transitions(table: pl.DataFrame) -> pl.DataFrame:
    """At most LISTED questions, sorted by id: what was lost, what fails elsewhere, what was won,
    then what ends as before."""
    if table.height <= LISTED:
        return table
    place = change().replace_strict(ORDER, return_dtype=pl.Int64)
    rows = table.sort(place, "question_id").head(LISTED)
    return rows.sort("question_id")


def farthest_ranks(table: pl.DataFrame) -> pl.DataFrame:
    """At most NEAREST rows of every stage, in the table's order: what moved farthest."""
    return _first(table, -farthest(), ["question_id", "group_id", "stage"])


def nearest_unjudged(table: pl.DataFrame) -> pl.DataFrame:
    """At most NEAREST rows of every stage, in the table's order: what is nearest to the top."""
    top = pl.min_horizontal("base", "new")
    return _first(table, top, ["question_id", "stage", "chunk_id", "base", "new"])


def farthest() -> pl.Expr:
    """How far gold moved: that left the list from near its top first, then by how often its rank
    doubled; 0 where it didn't move."""
    doubled = pl.col("new").log(2) - pl.col("base").log(2)
    left, entered = 10 - pl.col("base").log(2) / 10, 9 - pl.col("new").log(2) / 10
    return (
        pl.when(pl.col("base").is_null() & pl.col("new").is_null()).then(0.0)
        .when(pl.col("new").is_null()).then(left)
        .when(pl.col("base").is_null()).then(entered)
        .otherwise(doubled.abs())
    )  # fmt: skip


def _first(table: pl.DataFrame, size: pl.Expr, keys: Sequence[str]) -> pl.DataFrame:
    rows = table.with_columns(size=size).sort("size", *keys)
    first = rows.group_by("stage", maintain_order=True).head(NEAREST)
    return first.select(table.columns).sort(keys)
