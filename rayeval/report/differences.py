"""The differences of a comparison in the terminal: by stage, and by slice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl
from rich.console import RenderableType
from rich.text import Text

from rayeval.report.answered import MARKED, UNSURE
from rayeval.report.compared import Compared, uncalibrated
from rayeval.report.favoured import deciding_stage, worth_showing
from rayeval.report.shown import signed
from rayeval.report.sureness import HOLM, MEANS, disagreements
from rayeval.report.terminal import headed, number, titled

CHANGE, COUNTS = ("mean", "low", "high"), ("n", "improved", "regressed")


def difference_parts(found: Compared) -> Iterator[RenderableType]:
    """Over all questions; stages at which nothing is different in a line."""
    whole = found.deltas.filter(pl.col("slice").is_null())
    still = unmoved(whole)
    shown = worth_showing(whole["metric"].unique(maintain_order=True).to_list())
    rows = whole.filter(pl.col("metric").is_in(shown), ~pl.col("stage").is_in(still))
    locked = uncalibrated(found.facts)
    table = headed("stage", "metric", "base", "new", "Δ", "low", "high", "p", "n", "better",
                   "worse")  # fmt: skip
    for row in rows.iter_rows(named=True):
        figures = (number(row[name]) for name in ("base", "new"))
        table.row(row["stage"], marked(row["metric"], locked), *figures, *_change(row),
                  number(row["p"]), *_counts(row))  # fmt: skip
    yield titled("Differences (new − base)", table if rows.height else None)
    if still:
        yield Text(f"Every metric is the same for every question at {', '.join(still)}.")
    if rows.height:
        odd = disagreements(rows.iter_rows(named=True))
        yield from (Text(line, style="dim") for line in (MEANS, odd) if line)
    yield from (Text(line) for line in mark_lines(rows["metric"].to_list(), locked))


def unmoved(whole: pl.DataFrame) -> list[str]:
    """The stages at which both runs have the same value of every metric for every question."""
    told = whole.filter(pl.col("n") > 0).group_by("stage", maintain_order=True)
    moved = told.agg(moved=(pl.col("improved") + pl.col("regressed")).sum())
    return moved.filter(pl.col("moved") == 0)["stage"].to_list()


def slice_parts(found: Compared, most: int = 12) -> list[RenderableType]:
    """The slices that changed most surely, at the last stage and of the answers."""
    stages = found.deltas["stage"].unique(maintain_order=True).to_list()
    if not stages:
        return []
    told = [deciding_stage(stages), *(["answer"] if "answer" in stages else [])]
    locked = uncalibrated(found.facts)
    parts = (_sliced(found.deltas, stage, most, locked) for stage in dict.fromkeys(told))
    return [part for each in parts for part in each]


def _sliced(
    table: pl.DataFrame, stage: str, most: int, locked: dict[str, str]
) -> list[RenderableType]:
    parts = table.filter(
        pl.col("stage") == stage,
        pl.col("slice").is_not_null(),
        pl.col("p_holm").is_not_null(),
        pl.col("p").is_not_nan(),
        pl.col("mean") != 0,
    )
    if parts.is_empty():
        return []
    changed, parts = parts.height, parts.sort("p", "slice").head(most)
    result = headed("slice", "metric", "Δ", "low", "high", "p", "Holm", "n", "better", "worse")
    for row in parts.iter_rows(named=True):
        result.row(row["slice"], marked(row["metric"], locked), *_change(row), number(row["p"]),
                   number(row["p_holm"]), *_counts(row))  # fmt: skip
    some = f" (the {most} surest of {changed:,} that changed)" if changed > most else ""
    return [titled(f"By slice, at {stage}{some}", result), Text(HOLM, style="dim")]


def marked(metric: str, locked: dict[str, str]) -> str:
    """With a mark where its judge may decide nothing."""
    return f"{metric}{UNSURE}" if metric in locked else metric


def mark_lines(metrics: list[str], locked: dict[str, str]) -> list[str]:
    """What the marks mean, and why they stand there."""
    reasons = dict.fromkeys(locked[name] for name in metrics if name in locked)
    if not reasons:
        return []
    return [f"{MARKED}:", *(f"  {reason}" for reason in reasons)]


def _change(row: dict[str, Any]) -> Iterator[str]:
    return (signed(row[name]) for name in CHANGE)


def _counts(row: dict[str, Any]) -> Iterator[str]:
    return (str(row[name]) for name in COUNTS)
