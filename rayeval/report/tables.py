"""What a report reads: the tables of one run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import polars as pl


class Tables(Protocol):
    """A run, as far as reports need it."""

    path: str
    manifest: dict[str, Any]

    @property
    def run_id(self) -> str:
        """The run's name."""
        ...

    @property
    def questions(self) -> pl.DataFrame:
        """The questions as evaluated."""
        ...

    @property
    def trace(self) -> pl.DataFrame:
        """A row per (question_id, stage)."""
        ...

    @property
    def passages(self) -> pl.DataFrame:
        """Text and spans of every chunk that the trace or the gold names."""
        ...

    @property
    def per_query(self) -> pl.DataFrame:
        """A row per (question_id, stage)."""
        ...

    @property
    def failures(self) -> pl.DataFrame:
        """A row per answerable question."""
        ...

    @property
    def aggregate(self) -> pl.DataFrame:
        """A row per (stage, metric)."""
        ...

    @property
    def slices(self) -> pl.DataFrame:
        """A row per (slice, stage, metric)."""
        ...

    @property
    def answers(self) -> pl.DataFrame:
        """A row per (question_id, variant, repeat); none where nothing was answered."""
        ...

    @property
    def judgements(self) -> pl.DataFrame:
        """A row per judged answer; none where nothing was judged."""
        ...

    @property
    def judged_again(self) -> pl.DataFrame:
        """The same of the answers that were judged a second time."""
        ...

    @property
    def per_answer(self) -> pl.DataFrame:
        """A row per (question_id, stage, repeat): what each answer is worth."""
        ...

    @property
    def abstention(self) -> pl.DataFrame:
        """Answers counted by slice, stage, and what is told of them."""
        ...

    @property
    def spread(self) -> pl.DataFrame:
        """How far answers to one question differ: a row per (stage, metric)."""
        ...

    @property
    def thresholds(self) -> pl.DataFrame:
        """Scores of answerable against unanswerable questions: a row per (stage, slice)."""
        ...

    @property
    def risk_coverage(self) -> pl.DataFrame:
        """What goes wrong when only questions above a score are answered: points of curves."""
        ...

    @property
    def latency(self) -> pl.DataFrame:
        """A row per (question_id, stage)."""
        ...

    def columns(self, table: str) -> list[str]:
        """The names of a table's columns."""
        ...

    def select(self, table: str, columns: Sequence[str], stage: str | None = None) -> pl.DataFrame:
        """These columns of a table, of all its rows or of one stage's, and nothing else of it."""
        ...

    def parts(self, table: str, columns: Sequence[str]) -> Iterable[pl.DataFrame]:
        """As `select`, by blocks of rows in order; at least one, which may be empty."""
        ...

    def rows(
        self, table: str, column: str, values: Sequence[str], columns: Sequence[str] | None = None
    ) -> pl.DataFrame:
        """The rows of a table where `column` is one of `values`, without reading the rest of it."""
        ...


def answered_stages(run: Tables) -> tuple[str, ...]:
    """The stages at which questions were answered."""
    return tuple(run.manifest.get("answers", ()))


def measured_stages(run: Tables) -> tuple[str, ...]:
    """The stages that have metrics: those that find hits, then those that answer."""
    return (*run.manifest["stages"], *answered_stages(run))
