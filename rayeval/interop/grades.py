"""Judgements of whole documents, as IR collections list them, as gold evidence.

Whether a question has gold is left to whoever scores: no row says `answerable`, so that it follows
from the grades and `metrics.relevant`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from rayeval.interop.parts import Row
from rayeval.tables import UNLABELLED
from rayeval.words import plural, verb

CONVENTION = 1
"""From this grade a document is relevant to those who publish such collections: trec_eval, BEIR."""


@dataclass(frozen=True)
class Graded:
    """Judgements whose grades are relevance."""

    judged: pl.DataFrame
    """As it was given, with `relevance`, 0 to 3."""
    relevant: int | None
    """From which relevance the collection calls a document relevant; None: from any above 0."""
    notes: tuple[str, ...]
    """What was decided, in words for the user."""


def graded(judged: pl.DataFrame) -> Graded:
    """Grades as relevance.

    judged: `question_id, grade` and more, the whole collection's; grades are whole numbers from 0
    to 3. Where all of them are 0 or 1, 1 becomes 3; else they are kept, whatever they are.
    """
    grades, best = judged["grade"], judged.group_by("question_id").agg(pl.col("grade").max())
    notes = []
    if grades.is_in([0, 1]).all():
        notes.append("grades are 0 or 1: 1 became relevance 3, 0 stays 0 (not relevant)")
        relevant, relevance = None, grades * 3
    else:
        notes.append("grades 0 to 3 are kept as relevance")
        relevant, relevance = CONVENTION, grades
    if without := int((best["grade"] == 0).sum()):
        told = verb(without, "is not labelled (no document is", "are not labelled (no document is")
        notes.append(
            f"{plural(without, 'question')} {told} graded above 0): `labels: none`, since nobody "
            "knows whether another document answers"
        )
    return Graded(judged.with_columns(relevance=relevance), relevant, tuple(notes))


def flag(relevant: int) -> str:
    """What to score such questions with, once they are a golden set of ours."""
    return (
        f"score with `--relevant {relevant}`, or `metrics: {{relevant: {relevant}}}` in a "
        f"configuration: to trec_eval and BEIR a grade of {relevant} or more is relevant, to "
        "rayeval, if nothing is said, one of 2 or more"
    )


def judged_questions(judged: pl.DataFrame, texts: Mapping[str, str]) -> Iterator[Row]:
    """A question per id, in order of appearance, its judged documents as evidence.

    judged: `question_id, source_id, relevance, split`. texts: the questions, by id.
    """
    grouped = judged.group_by("question_id", maintain_order=True).agg(
        "source_id", "relevance", pl.col("split").first()
    )
    for name, sources, grades, split in grouped.iter_rows():
        evidence: list[dict[str, Any]] = [
            {"source_id": source, "relevance": grade}
            for source, grade in zip(sources, grades, strict=True)
        ]
        yield {
            "question_id": name,
            "question": texts[name],
            "evidence": evidence,
            **({} if any(grades) else {"labels": UNLABELLED}),
            **({"split": split} if split else {}),
        }
