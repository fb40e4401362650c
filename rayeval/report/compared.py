"""A comparison, as reports read it, and what is said of it first."""

from __future__ import annotations

from typing import Any, Protocol

import polars as pl

from rayeval.report.grounds import grounds
from rayeval.report.headline import Sentence, comparison_sentence
from rayeval.report.tables import Tables
from rayeval.report.whole import Whole


class Compared(Protocol):
    """A comparison, as far as reports need it."""

    @property
    def path(self) -> str | None:
        """Its folder, once it is written."""
        ...

    @property
    def facts(self) -> dict[str, Any]:
        """What was compared, what differs and what to be careful about."""
        ...

    @property
    def deltas(self) -> pl.DataFrame:
        """A row per (slice, stage, metric)."""
        ...

    @property
    def transitions(self) -> pl.DataFrame:
        """A row per answerable question, or of those that matter most."""
        ...

    @property
    def latency(self) -> pl.DataFrame:
        """A row per (stage, quantile)."""
        ...

    @property
    def ranks(self) -> pl.DataFrame:
        """A row per (question, gold group, stage): the rank in both runs."""
        ...

    @property
    def unjudged(self) -> pl.DataFrame:
        """A row per unjudged hit that only one run has near its top."""
        ...

    @property
    def whole(self) -> Whole:
        """What is said of all questions, also of those that the tables don't list."""
        ...

    @property
    def sides(self) -> tuple[Tables, Tables]:
        """The two runs: base, new."""
        ...


def headline(found: Compared) -> Sentence:
    """The same wherever the comparison is shown."""
    return comparison_sentence(found.whole.ends, grounds(found.deltas), uncalibrated(found.facts))


def uncalibrated(facts: dict[str, Any]) -> dict[str, str]:
    """Metrics of a judge that may decide nothing → why; one that was written before that was told
    says nothing of it."""
    return dict(facts.get("uncalibrated", {}))
