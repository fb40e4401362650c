"""The questions that a trace lacks: they count as the worst there is, so they are said first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from rayeval.report.tables import Tables
from rayeval.words import plural, verb

NAMED = 5
"""Questions that a line names."""


def lacking(run: Tables) -> Iterator[str]:
    """A line on questions without any row in the trace, one on those without an answer alone."""
    rows = run.per_query.select("question_id", "stage", missing=pl.col("status") == "missing")
    by = rows.group_by("question_id").agg(
        whole=pl.col("missing").all(),
        answer=(pl.col("missing") & (pl.col("stage") == "answer")).any(),
    )
    total = run.questions.height
    for flag, what in (
        (pl.col("whole"), "no row in the trace"),
        (pl.col("answer") & ~pl.col("whole"), "no answer in the trace"),
    ):
        names = by.filter(flag)["question_id"].sort().to_list()
        if names:
            have = verb(len(names), "has", "have")
            said = f"MISSING: {len(names)} of {plural(total, 'question')} {have} {what}"
            yield f"{said} ({_listed(names)}): means count them as the worst value"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")
