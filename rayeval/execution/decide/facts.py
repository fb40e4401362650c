"""What a comparison says of itself: what was compared, what differs, what to be careful about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import polars as pl

from rayeval.calibration.unlock import Known
from rayeval.comparison import differences
from rayeval.comparison.pairs import Pairs
from rayeval.comparison.ranks import TOP, shared_depth
from rayeval.execution.decide.calibrated import uncalibrated
from rayeval.execution.decide.shards import Listed
from rayeval.execution.guard import revealed
from rayeval.execution.runs import Run
from rayeval.report.favoured import deciding_stage
from rayeval.report.lacking import absent
from rayeval.report.tables import measured_stages
from rayeval.words import plural, verb


def facts_of(
    base: Run,
    new: Run,
    pairs: Pairs,
    found: Listed,
    purpose: str | None,
    *,
    timed: bool,
    known: Known,
) -> dict[str, Any]:
    """What `comparison.json` says, but for how it was computed.

    purpose: for the ledger of the test split. timed: latencies are compared. known: records of
    judges besides those that the runs carry.
    """
    changed = differences.changed(base, new)
    return {
        "base": base.run_id,
        "new": new.run_id,
        "questions": len(pairs.base.ids),
        "clusters": int(pairs.clusters.max()) + 1,
        "only_base": list(pairs.lost),
        "only_new": list(pairs.added),
        "changed": changed,
        "elsewhere": differences.elsewhere(base, new),
        "warnings": list(_warnings(base, new, pairs, changed, purpose, timed=timed)),
        "uncalibrated": uncalibrated(pairs, known),
        "unjudged": _unjudged(found.whole.open, pairs),
        **_left_out(found),
    }


def _unjudged(open_: pl.DataFrame, pairs: Pairs) -> dict[str, Any]:
    """The unjudged hits of the last shared stage on which the runs differ."""
    stage = deciding_stage(pairs.stages) if pairs.stages else None
    here = open_.filter(pl.col("stage").eq_missing(pl.lit(stage)))
    counts = {name: int(here[name].sum()) for name in ("hits", "questions")}
    return {"stage": stage, "k": min(TOP, shared_depth(pairs) or TOP), **counts}


def _left_out(found: Listed) -> dict[str, Any]:
    """`listed`: table → (rows that it has, rows of all questions), where it lacks some."""
    every = found.whole.ends.filter(pl.col("slice").is_null())
    totals = {
        "transitions": (found.transitions, every["n"]),
        "ranks": (found.ranks, found.whole.moves["n"]),
        "unjudged": (found.unjudged, found.whole.open["hits"]),
    }
    short = {
        name: [table.height, int(n.sum())]
        for name, (table, n) in totals.items()
        if table.height < n.sum()
    }
    return {"listed": short} if short else {}


def _warnings(
    base: Run, new: Run, pairs: Pairs, changed: Sequence[str], purpose: str | None, *, timed: bool
) -> list[str]:
    look = revealed(base, new, purpose)
    found = [look] if look else []
    parts = sorted(differences.groups(changed))
    if len(parts) > 1:
        found.append(
            f"more than one thing changed ({', '.join(parts)}): the differences can't be laid to "
            "any of them alone"
        )
    if not any(pairs.metrics(stage) for stage in pairs.stages):
        sides = [", ".join(measured_stages(run)) for run in (base, new)]
        found.append(
            "no metric is compared: the runs share no stage with the same metric (the baseline "
            f"has {sides[0]}; the new run {sides[1]})"
        )
    if pairs.lost or pairs.added:
        found.append(
            f"compared on {plural(len(pairs.base.ids), 'shared question')}; only in the "
            f"baseline: {len(pairs.lost)}, only in the new run: {len(pairs.added)}"
        )
    if depth := shared_depth(pairs):
        found.append(
            f"ranks of gold and unjudged hits are compared down to rank {depth}: one of the runs "
            "keeps no more of a list than its metrics look at (`score --keep-trace` keeps all)"
        )
    found += _lacking(pairs)
    if not timed:
        found.append("latency is not compared: the two runs were timed on different hardware")
    found += [f"{why} (compared all the same)" for why in differences.obstacles(base, new).values()]
    return found


def _lacking(pairs: Pairs) -> Iterator[str]:
    """What either trace lacks, where it counts all the same."""
    for called, side in () if pairs.shared else (("baseline", pairs.base), ("new run", pairs.new)):
        gone = absent(side.run).to_list()
        if gone:
            some = f"{len(gone)} of {plural(len(side.ids), 'question')}"
            names = ", ".join(gone[:3]) + (", …" if len(gone) > 3 else "")
            yield (
                f"{some} {verb(len(gone), 'is', 'are')} missing in the trace of the {called} and "
                f"{verb(len(gone), 'counts', 'count')} as the worst: {names}; `--on shared` leaves "
                "out what either trace lacks"
            )
