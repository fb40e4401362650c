"""Slices that say something: those that hold some of the questions, and not all."""

from __future__ import annotations

import polars as pl

from rayeval.metrics.totals import SYNTHETIC
from rayeval.report.tables import Tables


def telling(run: Tables) -> pl.DataFrame:
    """The rows of the run's slices without those of a slice whose every figure at a stage is that
    of all questions."""
    keys = ["stage", "metric"]
    every = run.aggregate.select(*keys, every="n")
    rows = run.slices.join(every, on=keys, how="left")
    parts = rows.group_by("slice", "stage").agg(less=(pl.col("n") < pl.col("every")).any())
    parts = parts.filter(pl.col("less") | (pl.col("slice") == SYNTHETIC))
    return run.slices.join(parts, on=["slice", "stage"], how="semi", maintain_order="left")
