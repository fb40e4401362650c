"""What a page says first: one sentence, and the questions behind it, worst first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from rayeval.report.plain import plural

SHOWN = 6
SHARE = 0.05
"""Of its questions that a part must have lost, net, to hold a change back."""
WON, LOST = "won", "lost"


@dataclass(frozen=True)
class Sentence:
    """What to know first."""

    text: str
    questions: tuple[str, ...]
    """Behind it, worst first."""


@dataclass(frozen=True)
class Part:
    """A slice, or all questions (`name` null), of a comparison."""

    name: str | None
    n: int
    lost: tuple[str, ...]
    won: int

    @property
    def net(self) -> int:
        """Questions lost beyond those won."""
        return len(self.lost) - self.won

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
        return Sentence(f"All {n} answerable questions keep their gold to the end", ())
    if failed.is_empty():
        text = f"{broken.height} of {plural(n, 'question')} could not be processed"
        return _with(text, broken["question_id"].sort().to_list())
    best = ranks.group_by("question_id").agg(pl.col("rank").min())
    order = failed.join(best, on="question_id", how="left")
    order = order.sort("rank", "question_id", nulls_last=True)
    stages = failed.group_by("stage").len().sort("len", "stage", descending=[True, False])
    stage = stages["stage"][0]
    ids = order.filter(pl.col("stage") == stage)["question_id"].to_list()
    lose = "loses its" if len(ids) == 1 else "lose their"
    return _with(f"{len(ids)} of {plural(n, 'question')} {lose} gold at {stage}", ids)


def comparison_sentence(
    ended: pl.DataFrame, decisive: dict[str, Any] | None, order: Sequence[str]
) -> Sentence:
    """Hold, ship, or that the questions can't tell.

    Hold: all questions, or a slice, lost more than they won (SHARE of them, and two in a slice).
    Ship: the interval of the deciding metric lies above 0. Gates decide what really ships; this
    speaks of these questions.
    ended: `question_id, slices, change (won | lost | …), stage_after`. decisive: the overall row of
    deltas of the deciding metric. order: question ids, worst first.
    """
    place = {name: number for number, name in enumerate(order)}
    parts = [part for part in _parts(ended) if part.holds]
    if parts:
        worst = min(parts, key=lambda part: (-part.net, part.n, part.name or ""))
        ids = sorted(worst.lost, key=lambda name: (place.get(name, len(place)), name))
        stages = ended.filter(pl.col("question_id").is_in(ids))["stage_after"]
        where = stages.value_counts(sort=True)
        top, count = where["stage_after"][0], int(where["count"][0])
        who = worst.name or "this change"
        spread = ("all " if len(ids) > 1 else "") if count == len(ids) else f"{count} "
        won = f", won {worst.won}" if worst.won else ""
        return _with(f"Hold: {who} lost {len(ids)} of {worst.n}{won}, {spread}at {top}", ids)
    won, lost = (
        sorted(ended.filter(pl.col("change") == change)["question_id"]) for change in (WON, LOST)
    )
    if decisive is not None and decisive["low"] is not None and decisive["low"] > 0:
        gain = f"{decisive['metric']} at {decisive['stage']} rose by {decisive['mean']:.2f}"
        spread = f"({decisive['low']:.2f} to {decisive['high']:.2f})"
        return Sentence(f"Ship: {gain} {spread}; {len(won)} won, {len(lost)} lost", (*lost, *won))
    n = plural(ended.height if decisive is None else decisive["n"], "question")
    found = None if decisive is None else decisive["detectable"]
    limit = f" (smallest detectable: {found:.2f})" if found is not None and found == found else ""
    return Sentence(f"No difference that {n} can show{limit}", (*lost, *won))


def _parts(ended: pl.DataFrame) -> list[Part]:
    """All questions, and every slice."""
    whole = ended.with_columns(slice=pl.lit(None, pl.String))
    every = ended.explode("slices").rename({"slices": "slice"}).drop_nulls("slice")
    columns = ["slice", "question_id", "change"]
    table = pl.concat([whole.select(columns), every.select(columns)])
    found = []
    for (name,), rows in table.group_by("slice", maintain_order=True):
        lost = rows.filter(pl.col("change") == LOST)["question_id"].to_list()
        won = rows.filter(pl.col("change") == WON).height
        found.append(Part(None if name is None else str(name), rows.height, tuple(lost), won))
    return found


def _with(text: str, ids: Sequence[str]) -> Sentence:
    more = ", …" if len(ids) > SHOWN else ""
    return Sentence(f"{text}: {', '.join(ids[:SHOWN])}{more}", tuple(ids))
