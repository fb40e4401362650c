"""What the context bought and what perfect retrieval would, over the same questions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from rayeval.metrics.totals import SYNTHETIC
from rayeval.report.limits import mean_limits
from rayeval.report.shown import Row, Shown, signed
from rayeval.report.tables import Tables, answered_stages
from rayeval.stats.bootstrap import REPLICATES

BUYS = (("closed_book", "answer", "context buys"),
        ("answer", "gold_context", "perfect retrieval would buy"))  # fmt: skip
"""(less, more, what the difference is)."""
MEANT = ("answer_correctness", "claim_f1", "faithfulness", "contains_reference", "exact_match",
         "token_f1", "rouge_l", "abstained")  # fmt: skip
"""The metrics whose differences between brackets mean something."""
SAYS = (
    "low, high: 95% by cluster bootstrap of the difference; one that holds 0 is no difference that "
    "these questions show."
)


@dataclass(frozen=True)
class Bought:
    """One metric of two variants of answers."""

    less: float
    more: float
    """Means over the questions that have both."""
    mean: float
    """Of the differences more − less."""
    low: float
    high: float
    """95% by cluster; NaN with a single one."""
    n: int


def brackets(run: Tables) -> dict[str, dict[str, Bought]]:
    """`more-less` → metric → what it came to."""
    stages = answered_stages(run)
    pairs = [(less, more) for less, more, _ in BUYS if less in stages and more in stages]
    if not pairs:
        return {}
    known = run.columns("per_query")
    metrics = [name for name in MEANT if name in known]
    asked = run.select("questions", ["question_id", "cluster", "slices"]).sort("question_id")
    asked = asked.filter(~pl.col("slices").list.contains(SYNTHETIC)).drop("slices")
    sides = {stage: _side(run, asked, metrics, stage) for pair in pairs for stage in pair}
    return {f"{more}-{less}": _bought(sides[less], sides[more], metrics) for less, more in pairs}


def brackets_json(run: Tables) -> dict[str, Any]:
    """The same for scripts; what is undefined is null."""
    return {
        name: {
            metric: {"mean": one.mean, "low": _told(one.low), "high": _told(one.high), "n": one.n}
            for metric, one in rows.items()
        }
        for name, rows in brackets(run).items()
    }


def bracket_table(run: Tables) -> Shown:
    """The differences, with limits by which noise is seen to be noise."""
    found = brackets(run)
    rows = [
        Row(
            f"{what}: {metric}",
            (one.less, one.more, *map(signed, (one.mean, one.low, one.high)), str(one.n)),
        )
        for less, more, what in BUYS
        for metric, one in found.get(f"{more}-{less}", {}).items()
    ]
    columns = ("", "from", "to", "Δ", "low", "high", "n")
    notes = (SAYS,) if rows else ()
    return Shown("Brackets (means over the same questions)", columns, tuple(rows), notes)


def _told(value: float) -> float | None:
    return None if math.isnan(value) else value


def _side(run: Tables, asked: pl.DataFrame, metrics: Sequence[str], stage: str) -> pl.DataFrame:
    """`question_id, cluster` and the metrics of one variant, in the order of `asked`."""
    own = run.select("per_query", ["question_id", *metrics], stage)
    own = own.with_columns(pl.col(metrics).cast(pl.Float64).fill_nan(None))
    return asked.join(own, on="question_id", how="left", maintain_order="left")


def _bought(less: pl.DataFrame, more: pl.DataFrame, metrics: Sequence[str]) -> dict[str, Bought]:
    change = more.with_columns(more[name] - less[name] for name in metrics)
    known = [name for name in metrics if change[name].count()]
    limits = mean_limits(change, known, possible=(-1.0, 1.0), count=REPLICATES) if known else ()
    found = {}
    for name, (low, high) in zip(known, limits, strict=True):
        both = change[name].is_not_null()
        before, after, gained = (_mean(each[name].filter(both)) for each in (less, more, change))
        found[name] = Bought(before, after, gained, low, high, int(both.sum()))
    return found


def _mean(values: pl.Series) -> float:
    return math.fsum(values.to_list()) / len(values)
