"""How gold's rank moved, counted for a plot."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import polars as pl

FARTHEST = 12
"""Moves named one by one for each pair of stages."""


def movement(table: pl.DataFrame) -> list[dict[str, Any]]:
    """A plot per stage.

    table: `question_id, group_id, stage, base, new`: ranks, null where not found.
    Every plot has `points` [rank before, rank after, how many groups] and the `farthest` moves.
    """
    found = []
    for (stage,), rows in table.group_by("stage", maintain_order=True):
        seen = rows.filter(pl.col("base").is_not_null() | pl.col("new").is_not_null())
        points = seen.group_by("base", "new").len().sort("base", "new")
        base, new = pl.col("base"), pl.col("new")
        counts = {
            "up": seen.filter(new < base).height,
            "down": seen.filter(new > base).height,
            "entered": seen.filter(base.is_null()).height,
            "left": seen.filter(new.is_null()).height,
            "same": seen.filter(new == base).height,
            "absent": rows.height - seen.height,
        }
        found.append(
            {
                "stage": stage,
                "points": [list(point) for point in points.iter_rows()],
                "counts": counts,
                "farthest": [list(row) for row in _farthest(seen).iter_rows()],
            }
        )
    return found


def _farthest(seen: pl.DataFrame) -> pl.DataFrame:
    """Gold that left the list from near its top first, then by how often its rank doubled."""
    doubled = pl.col("new").log(2) - pl.col("base").log(2)
    lost, entered = 10 - pl.col("base").log(2) / 10, 9 - pl.col("new").log(2) / 10
    size = (
        pl.when(pl.col("new").is_null()).then(lost)
        .when(pl.col("base").is_null()).then(entered)
        .otherwise(doubled.abs())
    )  # fmt: skip
    rows = seen.with_columns(size=size).filter(pl.col("size") > 0)
    rows = rows.sort("size", "question_id", "group_id", descending=[True, False, False])
    return rows.head(FARTHEST).select("question_id", "group_id", "base", "new")


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
