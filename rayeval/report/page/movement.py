"""How gold's rank moved, counted for a plot."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import polars as pl

from rayeval.report.whole import farthest, moves_of

WAYS = ("up", "down", "entered", "left", "same", "absent")
FARTHEST = 12
"""Moves named one by one for each pair of stages."""


def movement(table: pl.DataFrame, moves: pl.DataFrame | None = None) -> list[dict[str, Any]]:
    """A plot per stage.

    table: `question_id, group_id, stage, base, new`: ranks, null where not found; not all of them
    where `moves` (report.whole.Whole) counts what it lacks.
    Every plot has `points` [rank before, rank after, how many groups] and the `farthest` moves.
    """
    moves = moves_of(table) if moves is None else moves
    far = dict(table.with_columns(size=farthest()).group_by("stage"))
    found = []
    for (stage,), rows in moves.group_by("stage", maintain_order=True):
        counts = dict(rows.group_by("moved").agg(pl.col("n").sum()).iter_rows())
        points = rows.filter(pl.col("moved") != "absent").sort("base", "new")
        found.append(
            {
                "stage": stage,
                "points": [list(point) for point in points.select("base", "new", "n").iter_rows()],
                "counts": {name: counts.get(name, 0) for name in WAYS},
                "farthest": [list(row) for row in _farthest(far[stage,]).iter_rows()],
            }
        )
    return found


def _farthest(rows: pl.DataFrame) -> pl.DataFrame:
    moved = rows.filter(pl.col("size") > 0)
    moved = moved.sort("size", "question_id", "group_id", descending=[True, False, False])
    return moved.head(FARTHEST).select("question_id", "group_id", "base", "new")


def between(ranks: pl.DataFrame, stages: list[str]) -> pl.DataFrame:
    """Of one run: every stage's ranks beside those of the stage before it."""
    parts = []
    for before, after in pairwise(stages):
        keys = ["question_id", "group_id"]
        one, other = (
            ranks.filter(pl.col("stage") == stage).select(*keys, pl.col("rank").alias(name))
            for stage, name in ((before, "base"), (after, "new"))
        )
        pairs = one.join(other, on=keys, how="inner").sort(keys)
        parts.append(pairs.with_columns(stage=pl.lit(f"{before} → {after}")))
    schema = {"question_id": pl.String, "group_id": pl.String, "base": pl.Int64,
              "new": pl.Int64, "stage": pl.String}  # fmt: skip
    return pl.concat([pl.DataFrame(schema=schema), *parts])
