"""A comparison in the terminal, 100 columns wide."""

from __future__ import annotations

from typing import Any

import polars as pl
from rich.console import RenderableType
from rich.text import Text

from rayeval.report.compared import Compared, headline
from rayeval.report.differences import difference_parts, slice_parts
from rayeval.report.spent import spent_compared
from rayeval.report.terminal import drawn, headed, listed, rendered, titled

WON_AND_LOST = "won: ends in success now and did not before; lost: the other way round"


def comparison_text(found: Compared) -> str:
    """What changed, in figures and by question."""
    facts, first = found.facts, headline(found)
    parts: list[RenderableType] = [
        Text(first.text, style="bold"),
        *([Text(first.note)] if first.note else []),
        Text(f"\n{facts['new']} against {facts['base']}"),
        Text(f"{facts['questions']} questions in {facts['clusters']} clusters"),
        Text(WON_AND_LOST, style="dim"),
        listed("What changed", facts["changed"] or ["nothing in the pipeline's settings"]),
        *([listed("Be careful", facts["warnings"])] if facts["warnings"] else []),
        *difference_parts(found),
        *(drawn(table) for table in spent_compared(*found.sides)),
        *_moved(found.whole.ends),
        *_movement(found.whole.moves),
        *slice_parts(found),
        *([titled("Latency in ms", _latency(found.latency))] if found.latency.height else []),
    ]
    if facts["unjudged"]["hits"]:
        parts.append(Text(f"\n{unjudged_line(facts)}"))
    if short := left_out(facts):
        parts.append(listed("What is not listed", short))
    if found.path:
        parts.append(Text(f"\nfiles: {found.path}"))
    return rendered(parts)


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
    names = ("up", "down", "entered", "left", "same", "absent")
    result, still = headed("stage", *names), []
    for (stage,), rows in moves.group_by("stage", maintain_order=True):
        counts = dict(rows.group_by("moved").agg(pl.col("n").sum()).iter_rows())
        if counts.keys() <= {"same", "absent"}:
            still.append(str(stage))
        else:
            result.row(str(stage), *(str(counts.get(name, 0)) for name in names))
    said = [Text(f"No gold moved at {', '.join(still)}.")] if still else []
    return [titled("Ranks of gold (groups)", result if result.row_count else None), *said]


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
    command = f"rayeval golden label {facts['new']} --against {facts['base']}"
    return (
        f"{told['hits']:,} unjudged hits of {told['questions']:,} questions are in the top "
        f"{told['k']} of only one run at {told['stage']}; they find no gold as long as "
        f"nobody grades them. `{command}` grades them."
    )


def _latency(table: pl.DataFrame) -> Any:
    result = headed("stage", "quantile", "base", "new", "Δ", "low", "high", "questions")
    for row in table.iter_rows(named=True):
        figures = (f"{row[name]:.1f}" for name in ("base", "new", "delta", "low", "high"))
        result.row(row["stage"], row["quantile"], *figures, str(row["n"]))
    return result
