"""What a page says first: one sentence, and the questions behind it, worst first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from rayeval.report.whole import LOST, NAMED, WON, change
from rayeval.words import plural, verb

SHOWN = 6
SHARE = 0.05
"""Of its questions that a part must have lost, net, to hold a change back."""


@dataclass(frozen=True)
class Sentence:
    """What to know first."""

    text: str
    questions: tuple[str, ...]
    """Behind it, worst first."""
    note: str = ""
    """How sure it is."""


@dataclass(frozen=True)
class Part:
    """A slice, or all questions (`name` null), of a comparison."""

    name: str | None
    n: int
    lost: int
    won: int

    @property
    def net(self) -> int:
        """Questions lost beyond those won."""
        return self.lost - self.won

    @property
    def holds(self) -> bool:
        """One question may be chance in a slice; in the whole it is not made up for."""
        return self.net >= (1 if self.name is None else 2) and self.net >= SHARE * self.n


def run_sentence(failures: pl.DataFrame, ranks: pl.DataFrame) -> Sentence:
    """Which stage costs most.

    ranks: the gold ranks (report.gold.RANKS) by which the questions are ordered: what was nearest
    to the top before it was lost comes first.
    """
    n = failures.height
    if not n:
        return Sentence("No answerable question: nothing can be lost", ())
    failed = failures.filter(pl.col("status") == "failed")
    broken = failures.filter(pl.col("status").is_in(["error", "missing"]))
    if failed.is_empty() and broken.is_empty():
        return Sentence(f"No gold is lost in {plural(n, 'answerable question')}", ())
    if failed.is_empty():
        text = f"{broken.height} of {plural(n, 'question')} could not be processed"
        return _with(text, broken["question_id"].sort().to_list())
    best = ranks.group_by("question_id").agg(pl.col("rank").min())
    order = failed.join(best, on="question_id", how="left")
    order = order.sort("rank", "question_id", nulls_last=True)
    stages = failed.group_by("stage").len().sort("len", "stage", descending=[True, False])
    stage = stages["stage"][0]
    ids = order.filter(pl.col("stage") == stage)["question_id"].to_list()
    lose = "loses its gold" if len(ids) == 1 else "lose their gold"
    if stage == "answer":
        lose = "fails" if len(ids) == 1 else "fail"
    return _with(f"{len(ids)} of {plural(n, 'question')} {lose} at {stage}", ids)


def comparison_sentence(
    ends: pl.DataFrame, deciding: Mapping[str | None, dict[str, Any]]
) -> Sentence:
    """Hold, ship, or that the questions can't tell.

    Hold: all questions, or a slice, lost more than they won (SHARE of them, and two in a slice), or
    the deciding metric fell beyond chance (its interval lies below 0; in a slice, Holm's p < 0.05
    too). Ship: that interval lies above 0 over all questions. Gates decide what really ships; this
    speaks of these questions.
    ends: of all questions and by slice (report.whole.Whole). deciding: the deciding metric's rows
    of deltas, by slice.
    """
    ends = ends.with_columns(change=change())
    parts = [part for part in _parts(ends) if part.holds]
    if parts:
        worst = min(parts, key=lambda part: (-part.net, part.n, part.name or ""))
        return _hold(worst, _within(ends, worst.name), deciding.get(worst.name))
    every = _within(ends, None)
    ways = [every.filter(pl.col("change") == way) for way in (LOST, WON)]
    behind = tuple(name for rows in ways for name in _first(rows))
    lost, won = (int(rows["n"].sum()) for rows in ways)
    counts = f"{plural(won, 'question')} won, {lost:,} lost"
    whole = deciding.get(None)
    sure = [row for row in deciding.values() if _fell(row)]
    if not sure and whole is not None and whole["low"] > 0:
        sure = [whole]
    if sure:
        row = min(sure, key=lambda row: row["mean"])
        return Sentence(f"{_moved(row)}; {counts}", behind, _sureness(row))
    n = plural(int(every["n"].sum()) if whole is None else whole["n"], "question")
    return _undecided(n, counts, behind, whole)


def _moved(row: Mapping[str, Any]) -> str:
    """The decision that a metric makes."""
    word, way = ("Ship", "rose") if row["mean"] > 0 else ("Hold", "fell")
    where = f" in {row['slice']}" if row["slice"] else ""
    return f"{word}: {row['metric']} at {row['stage']} {way} by {abs(row['mean']):.2f}{where}"


def _fell(row: Mapping[str, Any]) -> bool:
    """Beyond chance; a slice also when all slices are looked at."""
    sure = row["slice"] is None or (row["p_holm"] is not None and row["p_holm"] < 0.05)
    return bool(row["high"] < 0 and sure)


def _undecided(
    n: str, counts: str, behind: tuple[str, ...], whole: Mapping[str, Any] | None
) -> Sentence:
    """Too little to tell, or nothing at all."""
    if whole is None:
        return Sentence(f"No difference that {n} can show", behind, f"{counts}.")
    if not behind and whole["low"] == whole["high"] == 0:
        return Sentence(f"No difference: {n} {verb(whole['n'], 'ends', 'end')} as before", ())
    found = whole["detectable"]
    limit = "" if math.isnan(found) else f" (smallest detectable: {found:.2f})"
    note = f"{counts}. {_sureness(whole)}"
    return Sentence(f"No difference that {n} can show{limit}", behind, note)


def _hold(worst: Part, ends: pl.DataFrame, row: dict[str, Any] | None) -> Sentence:
    """What the worst part lost, and where."""
    lost = ends.filter(pl.col("change") == LOST)
    stages = lost.drop_nulls("stage_after").group_by("stage_after").agg(pl.col("n").sum())
    counted = stages.sort("n", "stage_after", descending=[True, False])
    top, count = counted.row(0) if counted.height else ("an unknown stage", worst.lost)
    share = f"{count} " if count < worst.lost else "all " if count > 1 else ""
    won = f" and won {worst.won}" if worst.won else ""
    who = worst.name or "all questions"
    text = f"Hold: {who} lost {worst.lost} of {worst.n}{won}, {share}at {top}"
    return replace(_with(text, _first(lost)), note=_sureness(row) if row else "")


def _within(ends: pl.DataFrame, slice_: str | None) -> pl.DataFrame:
    return ends.filter(pl.col("slice").eq_missing(pl.lit(slice_, pl.String)))


def _first(ends: pl.DataFrame) -> list[str]:
    """The first NAMED ids, in order."""
    return ends["ids"].explode().drop_nulls().sort().head(NAMED).to_list()


def _sureness(row: Mapping[str, Any]) -> str:
    """What the interval says beyond these questions."""
    figures = f"{row['metric']} at {row['stage']} changed by {row['mean']:+.2f}"
    if math.isnan(row["low"]):
        return f"{figures}; too few clusters for an interval."
    spread = f"{figures} ({row['low']:+.2f} to {row['high']:+.2f} for questions like these)"
    beyond = row["low"] > 0 or row["high"] < 0
    return f"{spread}." if beyond else f"{spread}, which chance alone may give."


def _parts(ends: pl.DataFrame) -> list[Part]:
    """All questions, and every slice."""
    n = pl.col("n")
    counts = ends.group_by("slice").agg(
        n.sum(),
        lost=n.filter(pl.col("change") == LOST).sum(),
        won=n.filter(pl.col("change") == WON).sum(),
    )
    return [Part(*row) for row in counts.select("slice", "n", "lost", "won").iter_rows()]


def _with(text: str, ids: Sequence[str]) -> Sentence:
    more = ", …" if len(ids) > SHOWN else ""
    return Sentence(f"{text}: {', '.join(ids[:SHOWN])}{more}", tuple(ids))
