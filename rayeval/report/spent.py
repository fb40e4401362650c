"""What answers and verdicts took: requests, tokens and dollars, by what was asked."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import polars as pl

from rayeval.report.shown import Row, Shown
from rayeval.report.tables import Tables

TOOK = ("prompt_tokens", "completion_tokens", "cost_usd")


def spent(run: Tables) -> dict[str, dict[str, Any]]:
    """What was asked (a variant of answers, `judge`, `judge again`) → `requests`, and the sums of
    TOOK over them, null where no reply tells.

    A reply that served several counts once; replies from the log count as if they came anew.
    Tries that brought none are not in it: nobody tells what they cost.
    """
    parts = {
        str(variant): part.select("request", *TOOK)
        for (variant,), part in run.answers.group_by("variant", maintain_order=True)
    }
    parts |= {"judge": _outcomes(run.judgements), "judge again": _outcomes(run.judged_again)}
    found = {name: _sums(part) for name, part in parts.items()}
    return {name: sums for name, sums in found.items() if sums["requests"]}


def spent_table(run: Tables) -> Shown:
    """Tokens and dollars."""
    found = spent(run)
    rows = [
        Row(name, (f"{one['requests']:,}", *map(_count_of, tokens), _usd(one["cost_usd"])))
        for name, one in found.items()
        for tokens in ((one["prompt_tokens"], one["completion_tokens"]),)
    ]
    costs = [one["cost_usd"] for one in found.values() if one["cost_usd"] is not None]
    total = (f"${math.fsum(costs):,.4f} in all",) if len(costs) > 1 else ()
    columns = ("", "replies", "tokens read", "tokens written", "cost")
    return Shown("What it took", columns, tuple(rows), total)


def spent_compared(base: Tables, new: Tables) -> tuple[Shown, ...]:
    """What both runs took, old and new side by side; none where neither asked anything."""
    before, after = spent(base), spent(new)
    nothing = {"requests": 0, **dict.fromkeys(TOOK)}
    rows = []
    for name in dict.fromkeys([*before, *after]):
        one, other = before.get(name, nothing), after.get(name, nothing)
        tokens = (_both(one[part], other[part], _count_of) for part in TOOK[:2])
        counts = _both(one["requests"], other["requests"], _count_of)
        rows.append(Row(name, (counts, *tokens, _both(one["cost_usd"], other["cost_usd"], _usd))))
    columns = ("", "replies", "tokens read", "tokens written", "cost")
    title = "What it took, base → new (each over all its questions)"
    return (Shown(title, columns, tuple(rows)),) if rows else ()


def _both(one: Any, other: Any, shown: Callable[[Any], str]) -> str:
    """Old and new, and by how much new is more or less."""
    if one == other:
        return shown(one)
    more = other / one - 1 if one and other is not None else 0.0
    return f"{shown(one)} → {shown(other)}{f' ({more:+.0%})' if abs(more) >= 0.005 else ''}"


def _count_of(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def _usd(cost: float | None) -> str:
    return "no prices" if cost is None else f"${cost:,.4f}"


def _outcomes(judgements: pl.DataFrame) -> pl.DataFrame:
    """Of a run that was judged before replies told what they took, nothing."""
    rows = judgements.select(pl.col("outcomes").explode()).drop_nulls().unnest("outcomes")
    told = [name for name in TOOK if name in rows.columns]
    return rows.select("request", *told, *(pl.lit(None).alias(n) for n in TOOK if n not in told))


def _sums(rows: pl.DataFrame) -> dict[str, Any]:
    told = rows.filter(pl.any_horizontal(pl.col(TOOK).is_not_null()))
    once = told.filter(pl.col("request").is_null() | pl.col("request").is_first_distinct())
    sums = {name: _sum(once[name]) for name in TOOK}
    return {"requests": once.height, **sums}


def _sum(column: pl.Series) -> Any:
    return column.sum() if column.count() else None
