"""What a judge said twice of the same claims: how often it was the same."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

VERDICTS = {
    "correctness": (None, "correctness"),
    "relevance": ("relevance", "grade"),
    "support": ("claims", "support"),
    "reference_support": ("reference_claims", "context"),
    "reference": ("claims", "reference"),
    "recall": ("reference_claims", "answer"),
    "citations": ("claims", "cited"),
}
"""Task → where a row of JUDGED has its verdicts: the list, None where it has one, and the field."""


def verdicts(judged: Mapping[str, Any], task: str) -> list[Any]:
    """The verdicts of one task on one answer, in order; None for each that there is not."""
    name, field = VERDICTS[task]
    return [judged[field]] if name is None else [one[field] for one in judged[name] or ()]


def self_agreement(
    first: Iterable[Mapping[str, Any]], again: Iterable[Mapping[str, Any]]
) -> dict[str, tuple[int, int]]:
    """Task → (equal verdicts, verdicts that were given both times).

    first, again: rows of judgements.parquet. Only tasks of which something was said both times.
    """
    before = {_key(row): row for row in first}
    counts: dict[str, tuple[int, int]] = {}
    for row in again:
        for task, same in _pairs(before.get(_key(row), row), row):
            equal, n = counts.get(task, (0, 0))
            counts[task] = (equal + same, n + 1)
    return counts


def _pairs(one: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    for task in VERDICTS:
        for was, is_ in zip(verdicts(one, task), verdicts(other, task), strict=False):
            if was is not None and is_ is not None:
                yield task, was == is_


def _key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["question_id"], row["variant"], row["repeat"]
