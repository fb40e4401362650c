"""On which metric a comparison is summed up: of what was found, of the answers, or of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from rayeval.answer_tables import VARIANTS
from rayeval.report.favoured import deciding_of_answers, deciding_of_hits, deciding_stage

ANSWER = VARIANTS[0]
Row = Mapping[str, Any]
"""A row of deltas."""


@dataclass(frozen=True)
class Grounds:
    """The metrics that decide, and why just these."""

    metrics: tuple[Mapping[str | None, Row], ...] = ()
    """Of each: slice (null: all questions) → its row of deltas; a slice that holds all questions is
    none."""
    why: str = ""
    """Empty where it goes without saying."""

    @property
    def whole(self) -> list[Row]:
        """Their rows over all questions."""
        return [by_slice[None] for by_slice in self.metrics]

    def of(self, slice_: str | None) -> list[Row]:
        """Their rows of a slice, or of all questions where the slice has none."""
        return [by_slice.get(slice_, by_slice[None]) for by_slice in self.metrics]


def grounds(deltas: pl.DataFrame) -> Grounds:
    """The metric of the last stage that finds hits, that of the answers, or both.

    One that is the same for every question can't tell two runs apart: the other one decides.
    """
    whole = deltas.filter(pl.col("slice").is_null(), pl.col("n") > 0)
    of_hits, of_answers = _found(whole), _said(whole)
    known = [row for row in (of_hits, of_answers) if row is not None]
    moving = [row for row in known if moved(row)]
    still = [row for row in known if not moved(row)]
    why = ""
    if moving and still:
        why = f"{named(still[0])} is the same for every question, so {named(moving[0])} decides"
    elif len(still) > 1:
        why = f"{named(still[0])} and {named(still[1])} are the same for every question"
    return Grounds(tuple(_by_slice(deltas, row) for row in moving or known[-1:]), why)


def moved(row: Row) -> bool:
    """Whether some question's value is another than before."""
    return bool(row["improved"] + row["regressed"])


def named(row: Row) -> str:
    """`recall@5 at context`."""
    return f"{row['metric']} at {row['stage']}"


def _found(whole: pl.DataFrame) -> Row | None:
    rows = whole.filter(~pl.col("stage").is_in(VARIANTS))
    if rows.is_empty():
        return None
    stage = deciding_stage(rows["stage"].unique(maintain_order=True).to_list())
    here = rows.filter(pl.col("stage") == stage)
    return _first(here, deciding_of_hits(here["metric"].to_list()))


def _said(whole: pl.DataFrame) -> Row | None:
    rows = whole.filter(pl.col("stage") == ANSWER)
    return _first(rows, deciding_of_answers(rows["metric"].to_list()))


def _first(rows: pl.DataFrame, names: Sequence[str]) -> Row | None:
    """The first of the metrics that tells questions apart, else the first."""
    by_name = {row["metric"]: row for row in rows.iter_rows(named=True)}
    known = [by_name[name] for name in names]
    return next((row for row in known if moved(row)), known[0] if known else None)


def _by_slice(deltas: pl.DataFrame, chosen: Row) -> dict[str | None, Row]:
    rows = deltas.filter(
        pl.col("stage") == chosen["stage"],
        pl.col("metric") == chosen["metric"],
        pl.col("slice").is_null() | pl.col("p_holm").is_not_null(),
    )
    return {row["slice"]: row for row in rows.iter_rows(named=True)}
