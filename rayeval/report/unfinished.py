"""What a run lacks that was to be in it: errors, and what a budget or a service kept from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import polars as pl

from rayeval.report.tables import Tables
from rayeval.words import plural

STOPPED = ("budget", "failed", "timed_out")
"""Outcomes that say nothing of the judge or the answer: another run may have a verdict."""


def unfinished(run: Tables) -> list[str]:
    """A few words for each; none where every question was scored, answered and judged."""
    return [*_questions(run), *_answers(run), *_verdicts(run)]


def _questions(run: Tables) -> Iterator[str]:
    status = Counter[str]()
    for part in run.parts("failures", ["status"]):
        status.update(dict(part["status"].value_counts().iter_rows()))
    if status["error"]:
        yield f"{status['error']:,} of {plural(status.total(), 'question')}: error"


def _answers(run: Tables) -> Iterator[str]:
    if "answers.parquet" not in run.manifest["files"]:
        return
    whole, kinds = 0, Counter[str]()
    for part in run.parts("answers", ["error"]):
        whole += part.height
        kind = pl.col("error").str.contains("budget: ", literal=True)
        failed = part.drop_nulls()
        spent = failed.filter(kind).height
        kinds.update({"budget": spent, "error": failed.height - spent})
    yield from _told(kinds, whole, "answer")


def _verdicts(run: Tables) -> Iterator[str]:
    if "judgements.parquet" not in run.manifest["files"]:
        return
    kinds = Counter[str]()
    for part in run.parts("judgements", ["outcomes"]):
        rows = part.explode("outcomes").drop_nulls().unnest("outcomes")
        kinds.update(dict(rows["outcome"].value_counts().iter_rows()))
    stopped = Counter({kind: kinds[kind] for kind in STOPPED})
    yield from _told(stopped, kinds.total(), "request of the judge", "requests of the judge")


def _told(kinds: Counter[str], whole: int, one: str, several: str | None = None) -> Iterator[str]:
    for kind, n in sorted((+kinds).items()):
        yield f"{n:,} of {plural(whole, one, several)}: {kind}"
