"""Verdicts: a limit against a figure, its interval and what stands behind them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rayeval.errors import EXIT_FAIL, EXIT_INCONCLUSIVE, EXIT_PASS
from rayeval.gates.config import Gate
from rayeval.power import FEWEST_CLUSTERS
from rayeval.words import plural, verb

Word = Literal["pass", "fail", "inconclusive"]
SAME = 1e-12
"""What sums of decimals may be off by: 0.9 is not below 0.9."""


@dataclass(frozen=True)
class Measured:
    """One figure of a run, or of the difference between two (better is more)."""

    value: float
    low: float
    """One-sided, at the gate's confidence."""
    high: float
    n: int
    """Rows in the figure."""
    clusters: int
    coverage: float
    """n / (n + rows with an error + missing rows without a value)."""
    error_rate: float
    obstacle: str | None = None
    """Why the figure decides nothing, whatever it is."""


@dataclass(frozen=True)
class Verdict:
    """One limit of one gate."""

    name: str
    metric: str
    stage: str | None
    slice: str | None
    limit_kind: str
    limit: float
    verdict: Word
    value: float
    low: float
    """A one-sided limit at `confidence`, as `high` is."""
    high: float
    confidence: float
    n: int
    reason: str
    blocks: bool
    """Whether it keeps a change from shipping."""


def verdict(gate: Gate, kind: str, stage: str | None, seen: Measured) -> Verdict:
    """Whether `seen` is within the gate's limit of this kind.

    kind: a key of `gate.limits`; for those that need a baseline `seen` is a difference, and for
    `max_regressed` the number of questions that got worse.
    """
    limit = gate.limits[kind]
    word, reason = _obstacle(gate, kind, seen) or _within(gate, kind, limit, seen)
    return Verdict(
        name=gate.title,
        metric=gate.metric,
        stage=stage,
        slice=gate.slice,
        limit_kind=kind,
        limit=limit,
        verdict=word,
        value=seen.value,
        low=seen.low,
        high=seen.high,
        confidence=gate.confidence,
        n=seen.n,
        reason=reason,
        blocks=word == "fail" or (word == "inconclusive" and gate.on_inconclusive == "block"),
    )


def overall(verdicts: Sequence[Verdict]) -> Word:
    """Fail if one fails, else inconclusive if one that blocks is, else pass."""
    words = {each.verdict for each in verdicts if each.blocks}
    return "fail" if "fail" in words else "inconclusive" if words else "pass"


EXIT_CODES: dict[Word, int] = {
    "pass": EXIT_PASS,
    "fail": EXIT_FAIL,
    "inconclusive": EXIT_INCONCLUSIVE,
}


def _obstacle(gate: Gate, kind: str, seen: Measured) -> tuple[Word, str] | None:
    """What makes any figure inconclusive."""
    if seen.obstacle:
        return "inconclusive", seen.obstacle
    if seen.n == 0 or math.isnan(seen.value):
        where = f"slice {gate.slice}" if gate.slice else "the run"
        return "inconclusive", f"{where} has no question with this figure"
    if seen.error_rate > gate.max_error_rate + SAME:
        return "inconclusive", (
            f"{seen.error_rate:.1%} of the rows have an error, more than max_error_rate "
            f"{gate.max_error_rate:.1%}"
        )
    if seen.coverage < gate.coverage - SAME:
        return "inconclusive", (
            f"only {seen.coverage:.1%} of the rows have a value, less than min_coverage "
            f"{gate.coverage:.1%}"
        )
    if gate.scope == "population" and kind != "max_regressed" and seen.clusters < FEWEST_CLUSTERS:
        return "inconclusive", (
            f"{plural(seen.clusters, 'cluster')} {verb(seen.clusters, 'tells', 'tell')} nothing "
            f"of questions like these; "
            f"{FEWEST_CLUSTERS} are the least"
        )
    return None


def _within(gate: Gate, kind: str, limit: float, seen: Measured) -> tuple[Word, str]:
    """The limit as a floor under the figure; a ceiling is a floor upside down."""
    sign = -1.0 if kind in ("max", "max_regressed") else 1.0
    floor = -limit if kind in ("max_drop", "max", "max_regressed") else limit
    shown = f"{kind} {limit:g}"
    if gate.scope == "set" or kind == "max_regressed":
        met = sign * seen.value >= floor - SAME
        beyond = "above" if sign < 0 else "below"
        beyond = "worse than" if kind == "max_drop" else beyond
        return ("pass", f"within {shown}") if met else ("fail", f"{beyond} {shown}")
    ends = sorted((sign * seen.low, sign * seen.high))
    if any(math.isnan(end) for end in ends):
        return "inconclusive", "the figure has no interval"
    if ends[0] >= floor - SAME:
        return "pass", f"the whole interval is within {shown}"
    if ends[1] < floor - SAME:
        return "fail", f"the whole interval is beyond {shown}"
    return "inconclusive", f"{shown} lies within the interval: too few questions to tell"
