"""The figure that a gate looks at: a run's own, or the difference from its baseline."""

from __future__ import annotations

import difflib
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from rayeval.answer_tables import VARIANTS
from rayeval.columns import Floats, Ints
from rayeval.comparison import latency
from rayeval.comparison.differences import other_hardware
from rayeval.comparison.direction import direction
from rayeval.comparison.pairs import Bools, Pairs, measured, pair
from rayeval.errors import ConfigError
from rayeval.gates.config import RELATIVE, Gate
from rayeval.gates.verdicts import SAME, Measured
from rayeval.report.tables import Tables, measured_stages
from rayeval.stats.binomial import exact_limits
from rayeval.stats.bootstrap import REPLICATES
from rayeval.stats.clusters import means
from rayeval.stats.intervals import intervals
from rayeval.stats.quantiles import percentile_interval, quantile_replicates

LATENCY = "latency_ms"
UNKNOWN = Measured(math.nan, math.nan, math.nan, 0, 0, 1.0, 0.0)
"""Nothing is known."""


def figure(
    gate: Gate,
    kind: str,
    stage: str,
    run: Tables,
    pairs: Pairs | None,
    seed: int,
    *,
    any_hardware: bool = False,
) -> Measured:
    """What the gate's limit of this kind is held against.

    pairs: of the run with its baseline, for a limit of RELATIVE; there, more is better.
    any_hardware: latencies of different machines are compared all the same.
    """
    if kind in RELATIVE and pairs is None:
        return replace(UNKNOWN, obstacle=f"{kind} needs a baseline: give one with --baseline")
    if gate.metric.partition(".")[0] == LATENCY:
        if kind in RELATIVE and pairs is not None and not any_hardware and _apart(pairs):
            return replace(UNKNOWN, obstacle="the two runs were timed on different hardware")
        return _latency(gate, kind, stage, run, pairs, seed)
    if kind in RELATIVE and pairs is not None:
        return _difference(gate, kind, stage, pairs, seed)
    return _own(gate, stage, pair(run, run), seed)


def stage_of(gate: Gate, run: Tables) -> str:
    """The gate's stage; without one, the last that has its metric.

    Raises ConfigError for a metric or a stage that the run hasn't.
    """
    if gate.metric.partition(".")[0] == LATENCY:
        _quantile(gate.metric)
        seen = run.select("latency", ["stage"])["stage"]
        timed: list[str] = seen.unique(maintain_order=True).to_list()
        every = [*timed, *measured_stages(run), "retrieval", "end_to_end"]
        return known(gate.stage or "end_to_end", every, f"gate {gate.title}: stage")
    stages = measured_stages(run)
    if gate.stage is None:
        having = [stage for stage in stages if gate.metric in measured(run, stage)]
        every = [name for stage in stages for name in measured(run, stage)]
        known(gate.metric, every, f"gate {gate.title}: metric")
        return "answer" if "answer" in having else having[-1]  # brackets decide only where named
    stage = known(gate.stage, stages, f"gate {gate.title}: stage")
    known(gate.metric, measured(run, stage), f"gate {gate.title}: metric at {stage}")
    return stage


def known(name: str, names: Sequence[str], what: str) -> str:
    """`name`. Raises ConfigError, with the nearest of `names`, if it is none of them."""
    if name in names:
        return name
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.0)
    hint = f"; the nearest that the run has is {near[0]!r}" if near else "; the run has none"
    raise ConfigError(f"{what} {name!r} is not known{hint}")


def _own(gate: Gate, stage: str, pairs: Pairs, seed: int) -> Measured:
    """The mean of the run's own values."""
    inside = pairs.inside(gate.slice) & _population(pairs, stage)
    values = pairs.new.values(stage, [gate.metric])[inside]
    blanks = [side[inside] for side in pairs.new.without_value(stage, gate.metric)]
    most = direction(gate.metric).most
    return _mean(gate, values, pairs.clusters[inside], blanks, (0.0, most), seed)


def _difference(gate: Gate, kind: str, stage: str, pairs: Pairs, seed: int) -> Measured:
    """The mean of the paired differences, or how many of them are for the worse."""
    if stage not in pairs.stages or gate.metric not in pairs.metrics(stage):
        return replace(UNKNOWN, obstacle=f"the baseline has no {gate.metric} at {stage}")
    inside = pairs.inside(gate.slice) & _population(pairs, stage)
    sides = [side.values(stage, [gate.metric])[inside] for side in (pairs.base, pairs.new)]
    change = direction(gate.metric).sign * (sides[1] - sides[0])
    before, after = (s.without_value(stage, gate.metric) for s in (pairs.base, pairs.new))
    blanks = [(one | other)[inside] for one, other in zip(before, after, strict=True)]
    most = direction(gate.metric).most
    found = _mean(gate, change, pairs.clusters[inside], blanks, (-most, most), seed)
    if kind != "max_regressed":
        return found
    worse = float((change[~np.isnan(change)] < -SAME).sum())
    return replace(found, value=worse if found.n else math.nan, low=math.nan, high=math.nan)


def _mean(
    gate: Gate,
    values: Floats,
    clusters: Ints,
    blanks: Sequence[Bools],
    possible: tuple[float, float],
    seed: int,
) -> Measured:
    """values: (n_rows, 1). blanks: rows with an error, and rows missing without a value.

    possible: the range in which the mean can lie.
    """
    errors, missing = (int(each.sum()) for each in blanks)
    n = int((~np.isnan(values)).sum())
    rows = n + errors + missing
    tail = 1 - gate.confidence
    sums = means(values, clusters)
    [found] = intervals(sums, seed=seed, count=REPLICATES, tail=tail, possible=possible)
    low, high = found.low, found.high
    seen = values[~np.isnan(values)]
    if n and low == high and np.isin(seen, (0.0, 1.0)).all() and (seen == seen[0]).all():
        low, high = exact_limits(found.clusters if seen[0] else 0, found.clusters, tail=tail)
    coverage, error_rate = (n / rows, errors / rows) if rows else (1.0, 0.0)
    return Measured(found.estimate, low, high, n, found.clusters, coverage, error_rate)


def _population(pairs: Pairs, stage: str) -> Bools:
    """Answers to all questions count, and of hits those to answerable ones: an error elsewhere is
    not this metric's."""
    answerable: Bools = pairs.questions["answerable"].fill_null(True).to_numpy()
    return answerable | (stage in VARIANTS)


def _latency(
    gate: Gate, kind: str, stage: str, run: Tables, pairs: Pairs | None, seed: int
) -> Measured:
    """A percentile (`latency_ms.p95`) of what was timed alone."""
    q = _quantile(gate.metric)
    rows = _timed(run, stage, gate.slice)
    if kind in RELATIVE and pairs is not None:
        before = _timed(pairs.base.run, stage, gate.slice).select("question_id", "latency_ms")
        rows = rows.join(before, on="question_id", how="inner", suffix="_base")
    if rows.is_empty():
        return replace(UNKNOWN, obstacle=_untimed(gate, kind, stage, run, pairs))
    asked = [run] if kind not in RELATIVE or pairs is None else [run, pairs.base.run]
    shares = [_timed_share(one, stage, gate.slice) for one in asked]
    coverage, errors = min(one for one, _ in shares), max(two for _, two in shares)
    sides = [rows[name].to_numpy() for name in rows.columns if name.startswith("latency_ms")]
    clusters = latency.codes(rows["cluster"])
    count = len(np.unique(clusters))
    if kind == "max_regressed":
        worse = float((sides[0] > sides[1] + SAME).sum())
        return Measured(worse, math.nan, math.nan, rows.height, count, coverage, errors)
    values = [float(np.quantile(side, q)) for side in sides]
    drawn = [quantile_replicates(s, clusters, [q], seed=seed)[:, 0] for s in sides]
    value, spread = (
        (values[0], drawn[0]) if len(sides) == 1 else (values[1] - values[0], drawn[1] - drawn[0])
    )
    low, high = percentile_interval(spread, tail=1 - gate.confidence)
    return Measured(value, low, high, rows.height, count, coverage, errors)


def _untimed(gate: Gate, kind: str, stage: str, run: Tables, pairs: Pairs | None) -> str:
    """What has no times, of the run or of its baseline; what has; and how there would be some."""
    lacks, called = run, ""
    if kind in RELATIVE and pairs is not None and not _timed(run, stage, gate.slice).is_empty():
        lacks, called = pairs.base.run, " of the baseline"
    where = f"{stage} in slice {gate.slice}" if gate.slice else stage
    timed = latency.measured(lacks)["stage"].unique().to_list()
    order = [name for name in measured_stages(lacks) if name in timed]
    order += sorted(set(timed) - set(order))
    if "trace" not in lacks.manifest:
        have = f" (there are times of {', '.join(order)})" if order else ""
        return (
            f"no question{called} was timed alone at {where}{have}: set `latency: {{sample: 50}}`"
        )
    said = f"the trace{called} gives no `latency_ms` at {where}"
    if not order:
        return f"{said}, nor at any stage: record it where the pipeline does its work"
    return f"{said}; a trace is timed by stage, this one at {', '.join(order)}: name one of these"


def _apart(pairs: Pairs) -> bool:
    return other_hardware(pairs.base.run, pairs.new.run)


def _timed_share(run: Tables, stage: str, slice_: str | None) -> tuple[float, float]:
    """(share of the questions asked that have a time, share that ended in an error).

    What failed or never came back has none: without it the rest looks fast. A failure at any stage
    is one of a sum of stages (`retrieval`, `end_to_end`). A pass that times a sample (`serial`) is
    whole; a foreign trace that times some questions and not others is not.
    """
    names = run.select("questions", ["question_id", "slices"])
    if slice_ is not None:
        names = names.filter(pl.col("slices").list.contains(slice_))
    rows = run.select("per_query", ["question_id", "stage", "status"])
    rows = rows.join(names.select("question_id"), on="question_id", how="semi")
    here = rows.filter(pl.col("stage") == stage)
    worst = (here if here.height else rows).group_by("question_id").agg(
        error=(pl.col("status") == "error").any(), missing=(pl.col("status") == "missing").any()
    )  # fmt: skip
    errors = int(worst["error"].sum())
    missing = int((worst["missing"] & ~worst["error"]).sum())
    foreign = _timed(run, stage, slice_).filter(pl.col("mode") == "foreign")["question_id"]
    sound = worst.filter(~pl.col("missing"), ~pl.col("error"))["question_id"]
    untimed = int((~sound.is_in(foreign.implode())).sum()) if len(foreign) else 0
    n = max(1, worst.height)
    return 1 - (errors + missing + untimed) / n, errors / n


def _quantile(metric: str) -> float:
    """`latency_ms.p95` → 0.95."""
    name = metric.partition(".")[2]
    digits = name.removeprefix("p")
    if not name.startswith("p") or not digits.isdigit() or not 0 < int(digits) < 100:
        raise ConfigError(f"{metric!r}: expected a percentile such as latency_ms.p95")
    return int(digits) / 100


def _timed(run: Tables, stage: str, slice_: str | None) -> pl.DataFrame:
    rows = latency.measured(run).filter(pl.col("stage") == stage)
    return rows if slice_ is None else rows.filter(pl.col("slices").list.contains(slice_))
