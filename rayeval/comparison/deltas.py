"""Paired differences: new − base by question, with intervals by cluster (DESIGN §8)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from rayeval.columns import Floats
from rayeval.comparison.direction import Direction, direction
from rayeval.comparison.pairs import Bools, Pairs
from rayeval.metrics.totals import SYNTHETIC
from rayeval.stats.bootstrap import REPLICATES, sign_flip_p
from rayeval.stats.clusters import Sums, intra_cluster_correlation, means
from rayeval.stats.corrections import holm
from rayeval.stats.intervals import Interval, intervals, standard_error
from rayeval.stats.power import detectable

SCHEMA = {
    "slice": pl.String,  # null: all questions that count for means
    "stage": pl.String,
    "metric": pl.String,
    "base": pl.Float64,  # means over the pairs
    "new": pl.Float64,
    "mean": pl.Float64,  # of the differences
    "low": pl.Float64,
    "high": pl.Float64,
    "method": pl.String,
    "p": pl.Float64,
    "p_holm": pl.Float64,  # over the slices of one (stage, metric); null outside slices, and for
    # a slice that holds every question with a value
    "n": pl.Int64,
    "n_undefined": pl.Int64,  # pairs left out
    "clusters": pl.Int64,
    "icc": pl.Float64,
    "detectable": pl.Float64,  # the smallest true difference that such a set shows
    "improved": pl.Int64,  # questions, by the metric's own direction
    "regressed": pl.Int64,
}


def deltas(
    pairs: Pairs, in_slices: Sequence[str] | None, *, seed: int, count: int = REPLICATES
) -> pl.DataFrame:
    """Of every stage and metric, overall and, for the metrics `in_slices`, by slice.

    in_slices: None is every metric.
    """
    rows: list[pl.DataFrame] = []
    for block in layout(pairs, in_slices):
        names = block.metrics
        base, new = (side.values(block.stage, names) for side in (pairs.base, pairs.new))
        rows += [
            _part(pairs, part, block.stage, [names[i] for i in places], base[:, places],
                  new[:, places], seed, count)
            for part, places in block.parts
        ]  # fmt: skip
    table = pl.concat(rows) if rows else pl.DataFrame(schema=SCHEMA)
    return adjusted(table)


@dataclass(frozen=True)
class Block:
    """What is compared at one stage."""

    stage: str
    metrics: tuple[str, ...]
    parts: tuple[tuple[str | None, list[int]], ...]
    """(slice, which of `metrics`), all questions first."""


def layout(pairs: Pairs, in_slices: Sequence[str] | None) -> list[Block]:
    """What there is to compare, in the order of the rows of `deltas`."""
    found = []
    for stage in pairs.stages:
        names = pairs.metrics(stage)
        chosen = [i for i, name in enumerate(names) if in_slices is None or name in in_slices]
        slices = [(name, chosen) for name in pairs.slices if chosen]
        if names:
            found.append(Block(stage, names, ((None, list(range(len(names)))), *slices)))
    return found


def _part(
    pairs: Pairs,
    slice_: str | None,
    stage: str,
    names: Sequence[str],
    base: Floats,
    new: Floats,
    seed: int,
    count: int,
) -> pl.DataFrame:
    """One stage of one slice: a row per metric."""
    inside = pairs.inside(slice_)
    base, new, clusters = base[inside], new[inside], pairs.clusters[inside]
    change = new - base
    sums = means(change, clusters)
    ways = [direction(name) for name in names]
    found = list(_intervals(sums, ways, seed, count))
    p = sign_flip_p(sums, seed=seed, count=count)
    both = ~np.isnan(change)
    signs = np.array([way.sign for way in ways])
    with np.errstate(invalid="ignore"):
        improved, regressed = (
            (signs * change > 1e-12).sum(axis=0),
            (signs * change < -1e-12).sum(axis=0),
        )
    return pl.DataFrame(
        {
            "slice": [slice_] * len(names),
            "stage": [stage] * len(names),
            "metric": list(names),
            "base": _mean(base, both),
            "new": _mean(new, both),
            "mean": [each.estimate for each in found],
            "low": [each.low for each in found],
            "high": [each.high for each in found],
            "method": [each.method for each in found],
            "p": p,
            "p_holm": [None] * len(names),
            "n": both.sum(axis=0),
            "n_undefined": (~both).sum(axis=0),
            "clusters": [each.clusters for each in found],
            "icc": [intra_cluster_correlation(change[:, i], clusters) for i in range(len(names))],
            "detectable": [detectable(error) for error in standard_errors(sums)],
            "improved": improved,
            "regressed": regressed,
        },
        schema=SCHEMA,
    )


def _intervals(sums: Sums, ways: Sequence[Direction], seed: int, count: int) -> Iterator[Interval]:
    """Clipped to what a difference of the metric can be."""
    found = intervals(sums, seed=seed, count=count)
    for each, way in zip(found, ways, strict=True):
        low, high = np.clip([each.low, each.high], -way.most, way.most)
        yield Interval(each.estimate, float(low), float(high), each.clusters, each.method)


def standard_errors(sums: Sums) -> list[float]:
    """Of every column, by cluster; NaN under two clusters."""
    errors = []
    for place in range(sums.above.shape[1]):
        one = sums.column(place)
        once = np.ones((1, len(one.below)))
        few = len(one.below) < 2
        error = np.nan if few else standard_error(one.above.T, one.below.T, once)[0]
        errors.append(float(error))
    return errors


def _mean(values: Floats, both: Bools) -> Floats:
    n = both.sum(axis=0)
    total = np.where(both, values, 0.0).sum(axis=0)
    result: Floats = np.divide(total, n, out=np.full(len(n), np.nan), where=n > 0)
    return result


def adjusted(table: pl.DataFrame) -> pl.DataFrame:
    """With Holm's p-values over the slices of every (stage, metric).

    A slice that holds every question with a value is no claim of its own: it has none.
    """
    whole = table.filter(pl.col("slice").is_null())
    every = {(stage, metric): n for stage, metric, n in whole["stage", "metric", "n"].iter_rows()}
    parts = [
        _corrected(part, every[str(stage), str(metric)])
        for (stage, metric), part in table.filter(pl.col("slice").is_not_null()).group_by(
            "stage", "metric", maintain_order=True
        )
    ]
    return pl.concat([whole, *parts]) if parts else whole


def _corrected(part: pl.DataFrame, n: int) -> pl.DataFrame:
    """n: the questions with a value, of which a slice holds some, or all. The unvalidated synthetic
    ones are none of them."""
    claim = (part["n"] < n) | (part["slice"] == SYNTHETIC)
    p = np.where(claim.to_numpy(), part["p"].to_numpy(), np.nan)
    return part.with_columns(p_holm=pl.when(claim).then(pl.Series(holm(p))))
