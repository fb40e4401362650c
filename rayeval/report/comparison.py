"""A comparison in the terminal, 100 columns wide."""

from __future__ import annotations

from typing import Any, Protocol

import polars as pl
from rich.console import RenderableType
from rich.text import Text

from rayeval.report.overview import deciding_stage, worth_showing
from rayeval.report.tables import Tables
from rayeval.report.terminal import headed, listed, number, rendered, titled
from rayeval.report.whole import Whole


class Compared(Protocol):
    """A comparison, as far as reports need it."""

    @property
    def path(self) -> str | None:
        """Its folder, once it is written."""
        ...

    @property
    def facts(self) -> dict[str, Any]:
        """What was compared, what differs and what to be careful about."""
        ...

    @property
    def deltas(self) -> pl.DataFrame:
        """A row per (slice, stage, metric)."""
        ...

    @property
    def transitions(self) -> pl.DataFrame:
        """A row per answerable question, or of those that matter most."""
        ...

    @property
    def latency(self) -> pl.DataFrame:
        """A row per (stage, quantile)."""
        ...

    @property
    def ranks(self) -> pl.DataFrame:
        """A row per (question, gold group, stage): the rank in both runs."""
        ...

    @property
    def unjudged(self) -> pl.DataFrame:
        """A row per unjudged hit that only one run has near its top."""
        ...

    @property
    def whole(self) -> Whole:
        """What is said of all questions, also of those that the tables don't list."""
        ...

    @property
    def sides(self) -> tuple[Tables, Tables]:
        """The two runs: base, new."""
        ...


def comparison_text(found: Compared) -> str:
    """What changed, in figures and by question."""
    facts = found.facts
    parts: list[RenderableType] = [
        Text(f"{facts['new']} against {facts['base']}", style="bold"),
        Text(f"{facts['questions']} questions in {facts['clusters']} clusters"),
        listed("What changed", facts["changed"] or ["nothing in the pipeline's settings"]),
        *([listed("Be careful", facts["warnings"])] if facts["warnings"] else []),
        titled("Differences (new − base), 95% by cluster", _deltas(found.deltas)),
        *_moved(found.whole.ends),
        *_movement(found.whole.moves),
        *_slices(found.deltas),
        *([titled("Latency in ms", _latency(found.latency))] if found.latency.height else []),
    ]
    if facts["unjudged"]["hits"]:
        parts.append(Text(f"\n{unjudged_line(facts)}"))
    if short := left_out(facts):
        parts.append(listed("What is not listed", short))
    if found.path:
        parts.append(Text(f"\nfiles: {found.path}"))
    return rendered(parts)


def _deltas(table: pl.DataFrame) -> Any:
    whole = table.filter(pl.col("slice").is_null())
    shown = worth_showing(whole["metric"].unique(maintain_order=True).to_list())
    result = headed(
        "stage", "metric", "base", "new", "Δ", "low", "high", "p", "n", "better", "worse"
    )
    for row in whole.filter(pl.col("metric").is_in(shown)).iter_rows(named=True):
        figures = (number(row[name]) for name in ("base", "new"))
        change = (signed(row[name]) for name in ("mean", "low", "high"))
        counts = (str(row[name]) for name in ("n", "improved", "regressed"))
        result.row(row["stage"], row["metric"], *figures, *change, number(row["p"]), *counts)
    return result


def _slices(table: pl.DataFrame, most: int = 12) -> list[Any]:
    """The slices that changed most surely, at the last stage and of the answers."""
    stages = table["stage"].unique(maintain_order=True).to_list()
    if not stages:
        return []
    told = [deciding_stage(stages), *(["answer"] if "answer" in stages else [])]
    return [part for stage in dict.fromkeys(told) for part in _sliced(table, stage, most)]


def _sliced(table: pl.DataFrame, stage: str, most: int) -> list[Any]:
    parts = table.filter(
        pl.col("stage") == stage,
        pl.col("slice").is_not_null(),
        pl.col("p").is_not_nan(),
        pl.col("mean") != 0,
    )
    if parts.is_empty():
        return []
    parts = parts.sort("p", "slice").head(most)
    result = headed("slice", "metric", "Δ", "low", "high", "p", "Holm", "n", "better", "worse")
    for row in parts.iter_rows(named=True):
        change = (signed(row[name]) for name in ("mean", "low", "high"))
        counts = (str(row[name]) for name in ("n", "improved", "regressed"))
        result.row(
            row["slice"], row["metric"], *change, number(row["p"]), number(row["p_holm"]), *counts
        )
    return [titled(f"By slice, at {stage}", result)]


def _moved(ends: pl.DataFrame) -> list[Any]:
    """Questions that end otherwise than before."""
    moved = ends.filter(pl.col("slice").is_null(), pl.col("before") != pl.col("after"))
    if moved.is_empty():
        return [Text("\nEvery question ends as before.")]
    groups = (
        moved.group_by("before", "after")
        .agg(pl.col("n").sum(), pl.col("ids").explode().sort().head(5))
        .sort("n", "before", "after", descending=[True, False, False])
    )
    result = headed("n", "before", "after", "questions")
    for before, after, n, names in groups.iter_rows():
        ids = " ".join(names[:4]) + (" …" if len(names) > 4 else "")
        result.row(str(n), before, after, ids)
    return [titled("Questions that end otherwise", result)]


def _movement(moves: pl.DataFrame) -> list[Any]:
    """How many gold groups moved at each stage."""
    if moves.is_empty():
        return []
    result = headed("stage", "up", "down", "entered", "left", "same", "absent")
    for (stage,), rows in moves.group_by("stage", maintain_order=True):
        counts = dict(rows.group_by("moved").agg(pl.col("n").sum()).iter_rows())
        names = ("up", "down", "entered", "left", "same", "absent")
        result.row(str(stage), *(str(counts.get(name, 0)) for name in names))
    return [titled("Ranks of gold (groups)", result)]


def left_out(facts: dict[str, Any]) -> list[str]:
    """What the comparison's tables don't list, in words; nothing where they list all."""
    told = {
        "transitions": ("questions", "what was lost first"),
        "ranks": ("ranks of gold", "at every stage what moved farthest first"),
        "unjudged": ("unjudged hits", "at every stage what is nearest to the top first"),
    }
    return [
        f"{name}.parquet shows {some:,} of {total:,} {told[name][0]}, {told[name][1]}; every "
        "count here is of all"
        for name, (some, total) in facts.get("listed", {}).items()
    ]


def unjudged_line(facts: dict[str, Any]) -> str:
    """How far the two runs rest on hits that nobody judged, and what to do about it."""
    told = facts["unjudged"]
    return (
        f"{told['hits']:,} unjudged hits of {told['questions']:,} questions are in the top "
        f"{told['k']} of only one run at {told['stage']}; they count as neither right nor wrong. "
        f"`rayeval golden label {facts['new']} --against {facts['base']}` grades them."
    )


def _latency(table: pl.DataFrame) -> Any:
    result = headed("stage", "quantile", "base", "new", "Δ", "low", "high", "questions")
    for row in table.iter_rows(named=True):
        figures = (f"{row[name]:.1f}" for name in ("base", "new", "delta", "low", "high"))
        result.row(row["stage"], row["quantile"], *figures, str(row["n"]))
    return result


def signed(value: float | None) -> str:
    """A difference with its sign; a dash where undefined."""
    shown = number(float("nan") if value is None else value)
    return shown if shown.startswith(("-", "–")) else f"+{shown}"
