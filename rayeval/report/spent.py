"""What answers and verdicts took: requests, tokens and dollars, by what was asked."""

from __future__ import annotations

import math
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


def _count_of(number: int | None) -> str:
    return "–" if number is None else f"{number:,}"


def _usd(cost: float | None) -> str:
    return "no prices" if cost is None else f"${cost:,.4f}"


def _outcomes(judgements: pl.DataFrame) -> pl.DataFrame:
    rows = judgements.select(pl.col("outcomes").explode()).drop_nulls()
    return rows.unnest("outcomes").select("request", *TOOK)


def _sums(rows: pl.DataFrame) -> dict[str, Any]:
    told = rows.filter(pl.any_horizontal(pl.col(TOOK).is_not_null()))
    once = told.filter(pl.col("request").is_null() | pl.col("request").is_first_distinct())
    sums = {name: _sum(once[name]) for name in TOOK}
    return {"requests": once.height, **sums}


def _sum(column: pl.Series) -> Any:
    return column.sum() if column.count() else None
