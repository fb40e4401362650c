"""What answers are worth on average, with intervals: overall, and by slice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from rayeval.metrics.totals import SYNTHETIC
from rayeval.report.limits import mean_limits
from rayeval.report.page.outcomes import STAGE
from rayeval.report.slices import telling
from rayeval.report.tables import Tables, answered_stages

IN_SLICES = ("answer_correctness", "claim_f1", "faithfulness", "hallucination", "citation_validity",
             "citation_correctness", "citation_recall", "contains_reference", "token_f1",
             "false_refusal", "right_refusal", "abstention_accuracy")  # fmt: skip
"""The metrics that are shown by slice."""
SLICES = 50
"""The largest ones, with intervals."""
MEAN = ("slice", "stage", "metric", "mean", "low", "high", "n", "errors")


def answer_means(run: Tables) -> dict[str, list[Any]]:
    """Columns MEAN: of every variant over all questions, and of the stage `answer` by slice.

    Limits are 95% by cluster, of the stage `answer` alone; null with a single cluster.
    """
    whole = run.aggregate.filter(pl.col("stage").is_in(answered_stages(run)))
    whole = whole.with_columns(slice=pl.lit(None, pl.String))
    names = largest(run)
    parts = run.slices.filter(
        pl.col("slice").is_in(names), pl.col("stage") == STAGE, pl.col("metric").is_in(IN_SLICES)
    )
    columns = ["slice", "stage", "metric", "mean", "n", pl.col("n_error").alias("errors")]
    rows = pl.concat([whole.select(columns), parts.select(columns)])
    rows = rows.filter((pl.col("n") > 0) | (pl.col("errors") > 0))
    limits = pl.DataFrame(
        list(_limits(run, rows)),
        schema={"slice": pl.String, "metric": pl.String, "low": pl.Float64, "high": pl.Float64},
        orient="row",
    ).with_columns(stage=pl.lit(STAGE))
    keys = ["slice", "stage", "metric"]
    rows = rows.join(limits, on=keys, how="left", nulls_equal=True, maintain_order="left")
    return {name: rows[name].to_list() for name in MEAN}


def largest(run: Tables) -> list[str]:
    """The slices with most answered questions, by name."""
    rows = telling(run).filter(pl.col("stage") == STAGE, pl.col("metric").is_in(IN_SLICES))
    sizes = rows.group_by("slice").agg(pl.col("n").max()).filter(pl.col("n") > 0)
    first = sizes.sort("n", "slice", descending=[True, False]).head(SLICES)
    return first["slice"].sort().to_list()


def _limits(run: Tables, rows: pl.DataFrame) -> Iterator[tuple[str | None, str, float, float]]:
    """(slice, metric, low, high) of the rows of the stage `answer`."""
    own = rows.filter(pl.col("stage") == STAGE)
    asked = run.select("questions", ["question_id", "cluster", "slices"]).sort("question_id")
    metrics = own["metric"].unique(maintain_order=True).to_list()
    values = run.select("per_query", ["question_id", *metrics], STAGE)
    table = asked.join(values, on="question_id", how="left", maintain_order="left")
    for (slice_,), part in own.group_by("slice", maintain_order=True):
        inside = table.filter(_inside(slice_))
        yield from _of(slice_, inside, part["metric"].to_list())


def _of(
    slice_: Any, table: pl.DataFrame, metrics: Sequence[str]
) -> Iterator[tuple[str | None, str, float, float]]:
    """The limits of one slice's means."""
    for metric, (low, high) in zip(metrics, mean_limits(table, metrics), strict=True):
        yield slice_, metric, low, high


def _inside(slice_: Any) -> pl.Expr:
    """The questions whose values a slice's mean is of; null: those that count for means."""
    names = pl.col("slices").fill_null([])
    unchecked = names.list.contains(SYNTHETIC)
    if slice_ is None:
        return ~unchecked
    return names.list.contains(slice_) & (unchecked if slice_ == SYNTHETIC else ~unchecked)
