"""Judgements of whole documents, as IR collections list them, as gold evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from rayeval.interop.parts import Row

RELEVANT = 2
"""The relevance from which evidence is gold, unless `metrics.relevant` says otherwise."""


def relevances(grades: pl.Series) -> tuple[pl.Series, str]:
    """Grades as relevance 0 to 3, and a note on it.

    grades: of the whole collection, whole numbers from 0 to 3.
    """
    if grades.is_in([0, 1]).all():
        return grades * 3, "grades are 0 or 1: 1 became relevance 3, 0 stays 0 (not relevant)"
    note = "grades 0 to 3 are kept as relevance; gold is relevance 2 or more (metrics.relevant)"
    return grades, note


def judged_questions(judged: pl.DataFrame, texts: Mapping[str, str]) -> Iterator[Row]:
    """A question per id, in order of appearance, its judged documents as evidence.

    judged: `question_id, source_id, relevance, split`. texts: the questions, by id.
    A question none of whose documents is gold is unanswerable.
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
            "answerable": max(grades) >= RELEVANT,
            "evidence": evidence,
            **({"split": split} if split else {}),
        }
