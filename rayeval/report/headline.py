"""What is said of a comparison first: hold, ship, or that the questions can't tell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from rayeval.report.grounds import ANSWER, Grounds, Row, moved, named
from rayeval.report.sureness import against, beyond, disagrees, sureness
from rayeval.report.whole import ABSENT, LOST, NAMED, WON, change
from rayeval.words import plural, verb

SHOWN = 6
MISSING = "missing"
SHARE = 0.05
"""Of its questions that a part must have lost, net, to hold a change back."""


@dataclass(frozen=True)
class Sentence:
    """What to know first."""

    text: str
    questions: tuple[str, ...]
    """Behind it, worst first."""
    note: str = ""
    """On what it rests, and how sure it is."""


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


def comparison_sentence(
    ends: pl.DataFrame, grounds: Grounds, uncalibrated: Mapping[str, str] | None = None
) -> Sentence:
    """Hold, ship, or that the questions can't tell.

    Hold: all questions, or a slice, lost more than they won (SHARE of them, and two in a slice), or
    a deciding metric fell beyond chance (its interval lies below 0; in a slice, Holm's p < 0.05
    too). Ship: such an interval lies above 0 over all questions. Gates decide what really ships;
    this speaks of these questions.
    ends: of all questions and by slice (report.whole.Whole). uncalibrated: metrics of a judge that
    may decide nothing, and why.
    """
    ends = ends.with_columns(change=change())
    worst = min((part for part in _parts(ends) if part.holds), default=None, key=_badness)
    name = None if worst is None else worst.name
    sure = None if worst else _sure(grounds)
    if worst is not None:
        found = _hold(worst, _within(ends, name))
    elif sure is not None:
        found, name = _moved(sure, grounds, ends), sure["slice"]
    else:
        found = _undecided(grounds.whole, ends)
    return replace(found, note=_note(grounds, grounds.of(name), uncalibrated or {}, found.note))


def _badness(part: Part) -> tuple[int, int, str]:
    return -part.net, part.n, part.name or ""


def _sure(grounds: Grounds) -> Row | None:
    """The row that decides: what fell beyond chance, else what rose over all questions."""
    rows = [row for by_slice in grounds.metrics for row in by_slice.values()]
    fell = min(filter(_fell, rows), key=lambda row: row["mean"], default=None)
    return fell or next((row for row in grounds.whole if row["low"] > 0), None)


def _fell(row: Row) -> bool:
    """Beyond chance; a slice also when all slices are looked at."""
    sure = row["slice"] is None or (row["p_holm"] is not None and row["p_holm"] < 0.05)
    return bool(row["high"] < 0 and sure)


def _moved(sure: Row, grounds: Grounds, ends: pl.DataFrame) -> Sentence:
    """The decision that a metric makes, and what the other one did meanwhile."""
    word = "Ship" if sure["mean"] > 0 else "Hold"
    where = f" in {sure['slice']}" if sure["slice"] else ""
    others = [row for row in grounds.whole if named(row) != named(sure)]
    also = "".join(f", {_way(row) if beyond(row) else _unsure(row)}" for row in others)
    text = f"{word}: {_way(sure)}{where}{also}; {_counts(ends, sure)}"
    return Sentence(text, _behind(ends))


def _way(row: Row) -> str:
    way = "rose" if row["mean"] > 0 else "fell"
    return f"{named(row)} {way} by {size(abs(row['mean']))}"


def _unsure(row: Row) -> str:
    return f"{named(row)} changed by {row['mean']:+.2f} (unsure)"


def size(value: float) -> str:
    """A difference in two decimals, or in what it takes to tell it from 0."""
    return f"{value:.2f}" if value >= 0.005 or value == 0 else f"{value:.1g}"


def _undecided(rows: Sequence[Row], ends: pl.DataFrame) -> Sentence:
    """Too little to tell, or nothing at all."""
    behind = _behind(ends)
    if not rows:
        n = plural(int(_within(ends, None)["n"].sum()), "question")
        return Sentence(f"No difference that {n} can show", behind, f"{_counts(ends)}.")
    n = plural(rows[0]["n"], "question")
    if not any(map(moved, rows)):
        if not behind:
            said = verb(rows[0]["n"], "ends", "end")
            return Sentence(f"No difference: {n} {said} as before", ())
        said = f"{named(rows[0])} is the same for each of {n}"
        return Sentence(f"No difference: {said}", behind, f"{_counts(ends)}.")
    limits = [size(row["detectable"]) for row in rows if row["detectable"] > 0]
    limit = f" (smallest detectable: {' and '.join(limits)})" if limits else ""
    what = " or ".join(map(named, rows))
    return Sentence(f"No difference in {what} that {n} can show{limit}", behind,
                    f"{_counts(ends, rows[-1])}.")  # fmt: skip


def _note(
    grounds: Grounds, rows: Sequence[Row], uncalibrated: Mapping[str, str], counted: str
) -> str:
    """On what the sentence rests."""
    why = f"{grounds.why}." if grounds.why else ""
    told = [
        f"{sureness(row)}{against(row) if disagrees(row) else ''}." for row in rows if moved(row)
    ]
    judged = [row["metric"] for row in rows if row["metric"] in uncalibrated]
    trust = f"The judge of {' and '.join(judged)} is not calibrated for a gate." if judged else ""
    return " ".join(part for part in (why, counted, *told, trust) if part)


def _counts(ends: pl.DataFrame, row: Row | None = None) -> str:
    """Who moved: by how the questions ended, or where they all end as before by the metric."""
    lost, won = (int(_of(ends, way)["n"].sum()) for way in (LOST, WON))
    if row is None or lost or won or row["stage"] != ANSWER:
        gone = int(_of(ends, LOST).filter(after=MISSING)["n"].sum())
        missing = f" ({gone:,} of these missing in the new run)" if gone else ""
        return f"{plural(won, 'question')} won, {lost:,} lost{missing}"
    return f"{plural(row['improved'], 'question')} better, {row['regressed']:,} worse"


def _behind(ends: pl.DataFrame) -> tuple[str, ...]:
    return tuple(name for way in (LOST, WON) for name in _first(_of(ends, way)))


def _of(ends: pl.DataFrame, way: str) -> pl.DataFrame:
    """Of all questions, those that went this way."""
    return _within(ends, None).filter(pl.col("change") == way)


def _hold(worst: Part, ends: pl.DataFrame) -> Sentence:
    """What the worst part lost, and where."""
    lost = ends.filter(pl.col("change") == LOST)
    places = lost.group_by(where=_where()).agg(pl.col("n").sum())
    top, count = places.sort("n", "where", descending=[True, False]).row(0)
    share = f"{count} " if count < worst.lost else "all " if count > 1 else ""
    won = f" and won {worst.won}" if worst.won else ""
    who = worst.name or "all questions"
    return with_questions(
        f"Hold: {who} lost {worst.lost} of {worst.n}{won}, {share}{top}", _first(lost)
    )


def _where() -> pl.Expr:
    """How, and at which stage, a question was lost, in words."""
    at = pl.format("at {}", pl.col("stage_after").fill_null("an unknown stage"))
    return (
        pl.when(after=ABSENT).then(pl.lit(f"{ABSENT} in the new run"))
        .when(pl.col("stage_after").is_null(), after=MISSING)
        .then(pl.lit(f"{MISSING} in the new run"))
        .when(after=MISSING).then(pl.format("{} {}", pl.lit(MISSING), at))
        .when(after="error").then(pl.format("with an error {}", at))
        .otherwise(at)
    )  # fmt: skip


def _within(ends: pl.DataFrame, slice_: str | None) -> pl.DataFrame:
    return ends.filter(pl.col("slice").eq_missing(pl.lit(slice_, pl.String)))


def _first(ends: pl.DataFrame) -> list[str]:
    """The first NAMED ids, in order."""
    return ends["ids"].explode().drop_nulls().sort().head(NAMED).to_list()


def _parts(ends: pl.DataFrame) -> list[Part]:
    """All questions, and every slice."""
    n = pl.col("n")
    counts = ends.group_by("slice").agg(
        n.sum(),
        lost=n.filter(pl.col("change") == LOST).sum(),
        won=n.filter(pl.col("change") == WON).sum(),
    )
    return [Part(*row) for row in counts.select("slice", "n", "lost", "won").iter_rows()]


def with_questions(text: str, ids: Sequence[str]) -> Sentence:
    """The text, and the first of the questions behind it."""
    more = ", …" if len(ids) > SHOWN else ""
    return Sentence(f"{text}: {', '.join(ids[:SHOWN])}{more}", tuple(ids))
