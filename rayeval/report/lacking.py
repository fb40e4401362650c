"""The questions that a trace lacks: they count as the worst there is, so they are said first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from rayeval.report.tables import Tables
from rayeval.words import plural, verb

COLUMNS = ["question_id", "stage", "status"]
NAMED = 5
"""Questions that a line names."""


def lacking(run: Tables, questions: int) -> Iterator[str]:
    """A line on questions without any row in the trace, one on those without an answer alone.

    questions: how many the run has.
    """
    rows = _missing(run)
    whole = absent(run, rows)
    unanswered = rows.filter(pl.col("stage") == "answer")["question_id"]
    yield from _line(whole, questions, "no row in the trace")
    alone = unanswered.filter(~unanswered.is_in(whole.implode()))
    yield from _line(alone, questions, "no answer in the trace")


def absent(run: Tables, missing: pl.DataFrame | None = None) -> pl.Series:
    """The questions of which the run's trace has no row at all, sorted.

    missing: the rows of `per_query` that say so, where they are known.
    """
    ids = (_missing(run) if missing is None else missing)["question_id"].unique().sort()
    if ids.is_empty():
        return ids
    known = pl.col("question_id").is_in(ids.implode()) & (pl.col("status") != "missing")
    there = [part.filter(known)["question_id"] for part in run.parts("per_query", COLUMNS)]
    return ids.filter(~ids.is_in(pl.concat(there).implode()))


def _missing(run: Tables) -> pl.DataFrame:
    rows = (p.filter(pl.col("status") == "missing") for p in run.parts("per_query", COLUMNS))
    return pl.concat(rows)


def _line(ids: pl.Series, questions: int, what: str) -> Iterator[str]:
    names = ids.sort().to_list()
    if names:
        have = verb(len(names), "has", "have")
        said = f"MISSING: {len(names)} of {plural(questions, 'question')} {have} {what}"
        yield f"{said} ({_listed(names)}): means count them as the worst value"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")
