"""Latency of two runs: medians and tails, and their differences."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from rayeval.columns import Floats, Ints
from rayeval.report.tables import Tables
from rayeval.stats.bootstrap import REPLICATES
from rayeval.stats.quantiles import percentile_interval, quantile_replicates

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
DECIDES = ("serial", "foreign")
"""Modes that a decision may rest on (DESIGN §10); the rest is throughput."""
SCHEMA = {
    "stage": pl.String, "quantile": pl.String, "base": pl.Float64, "new": pl.Float64,
    "delta": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64,
}  # fmt: skip


def measured(run: Tables) -> pl.DataFrame:
    """The rows that decide, with each question's cluster."""
    decides = pl.col("mode").is_in(DECIDES) & pl.col("latency_ms").is_not_null()
    columns = ["question_id", "stage", "latency_ms", "mode"]
    rows = pl.concat([part.filter(decides) for part in run.parts("latency", columns)])
    timed = rows.select("question_id").unique()
    names = pl.concat(
        part.join(timed, on="question_id", how="semi")
        for part in run.parts("questions", ["question_id", "cluster", "slices"])
    )
    return rows.join(names, on="question_id", how="inner").sort("stage", "question_id")


def latency_deltas(
    base: Tables, new: Tables, *, seed: int, count: int = REPLICATES
) -> pl.DataFrame:
    """By stage and quantile, over the questions that both runs timed alone."""
    both = measured(base).join(
        measured(new), on=["stage", "question_id"], how="inner", suffix="_new"
    )
    rows = [
        row
        for (stage,), part in both.group_by("stage", maintain_order=True)
        for row in _deltas(stage, part, seed=seed, count=count)
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def codes(clusters: pl.Series) -> Ints:
    """Numbers for cluster ids, in their order."""
    result: Ints = np.unique(clusters.to_numpy().astype(str), return_inverse=True)[1]
    return result


def _deltas(
    stage: object, part: pl.DataFrame, *, seed: int, count: int
) -> Iterator[tuple[object, ...]]:
    """A row for each quantile."""
    clusters, levels = codes(part["cluster"]), list(QUANTILES.values())
    sides: list[Floats] = [part[c].to_numpy() for c in ("latency_ms", "latency_ms_new")]
    drawn = [quantile_replicates(s, clusters, levels, seed=seed, count=count) for s in sides]
    before, after = (np.quantile(side, levels) for side in sides)
    for place, name in enumerate(QUANTILES):
        low, high = percentile_interval(drawn[1][:, place] - drawn[0][:, place])
        was, is_ = float(before[place]), float(after[place])
        yield stage, name, was, is_, is_ - was, low, high, part.height
