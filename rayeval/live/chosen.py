"""Candidates handed to a live system, and which of them it names."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from rayeval.errors import RowError
from rayeval.hits import ordered
from rayeval.scalars import real, shown, whole
from rayeval.tables import TEXT
from rayeval.words import plural

Candidates = Sequence[Mapping[str, str]]
"""`chunk_id` and `text` of each, best first."""

OFFERED = pa.list_(pa.struct([("chunk_id", TEXT), ("text", TEXT)]))


def offered(batch: pa.Table, column: str, depth: int | None) -> list[list[dict[str, str]]]:
    """Per row its best hits with their texts, best first; depth None: all of them.

    column: HITS; null or empty: no candidates. The batch has `candidates`, the hits' texts in any
    order.
    Raises RowError, naming the question, if a text is missing.
    """
    rows = zip(*(batch[n].to_pylist() for n in ("question_id", column, "candidates")), strict=True)
    lists = []
    for name, hits, given in rows:
        texts = {item["chunk_id"]: item["text"] for item in given or []}
        ids = [hit["chunk_id"] for hit in (hits or [])[:depth]]
        lacking = [one for one in ids if texts.get(one) is None]
        if lacking:
            raise RowError(f"question {name} has no text for the candidate {lacking[0]}")
        lists.append([{"chunk_id": one, "text": texts[one]} for one in ids])
    return lists


def values(question: Mapping[str, Any], candidates: Candidates) -> dict[str, Any]:
    """What fills a request's placeholders."""
    texts = [one["text"] for one in candidates]
    return {**question, "candidates": list(candidates), "texts": texts}


def named(answer: Any, candidates: Candidates) -> list[tuple[str, float | None]]:
    """The (chunk_id, score) that an answer names, in its order; score None where it gives none.

    answer: chunk ids, or mappings with `chunk_id`, or `index` (from 0, among the candidates), and
    maybe `score`.
    Raises RowError for what is none of the candidates, for one that comes twice, and for scores
    that are missing in part or no finite numbers.
    """
    if isinstance(answer, str | Mapping) or not ordered(answer):
        raise RowError(f"expected a list of candidates, got {type(answer).__name__}")
    found = [_one(item, candidates) for item in answer]
    ids = [one for one, _ in found]
    twice = [one for one in ids if ids.count(one) > 1]
    if twice:
        raise RowError(f"the candidate {twice[0]} is named more than once")
    scored = [score is not None for _, score in found]
    if any(scored) and not all(scored):
        raise RowError("some candidates have a score and others none: give all of them or none")
    return found


def _one(item: Any, candidates: Candidates) -> tuple[str, float | None]:
    entry = {"chunk_id": item} if isinstance(item, str) else item
    if not isinstance(entry, Mapping):
        raise RowError(f"{item!r} names no candidate; expected its id, or chunk_id or index")
    given: Any = entry.get("index")
    name, score = entry.get("chunk_id"), entry.get("score")
    if given is not None:
        index = whole(given)
        if index is None or not 0 <= index < len(candidates):
            of = plural(len(candidates), "candidate")
            raise RowError(f"index {shown(given)} is none of the {of}")
        name = candidates[index]["chunk_id"]
    if name not in {one["chunk_id"] for one in candidates}:
        raise RowError(f"{name!r} is none of the candidates")
    return str(name), None if score is None else finite(score)


def finite(score: Any) -> float:
    """A score; RowError for what is no finite number."""
    number = real(score)
    if number is None or not math.isfinite(number):
        raise RowError(f"the score {shown(score)} is no finite number")
    return number
