"""Batches of questions from plain Python values, for the tests of `rayeval.metrics`."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from rayeval.answer_tables import ANSWER, JUDGED
from rayeval.metrics.config import Metrics
from rayeval.metrics.per_query import PerQuery
from rayeval.metrics.pipeline import Later, Pipeline
from rayeval.tables import HITS, LOCATED, PASSAGES, PLACE, TEXT, TEXTS

GOLD_CHUNKS = pa.list_(PLACE)


def spans(pairs: Any) -> list[dict[str, int]]:
    return [{"start_char": start, "end_char": end} for start, end in pairs]


def evidence(evidence_id: str, *pairs: tuple[int, int], **given: Any) -> dict[str, Any]:
    """Evidence in source `d`, revision `1`, of grade 3, unless `given` says otherwise."""
    row = {
        "evidence_id": evidence_id,
        "group_id": evidence_id,
        "aspects": [],
        "source_id": "d",
        "revision_id": "1",
        "relevance": 3,
        "found": "located",
        "visible": True,
        "whole": False,
    }
    row |= given
    row["spans"] = spans(pairs)
    row["needs"] = spans(given.get("needs", []))
    row.setdefault("parsed", True if row["found"] == "located" else None)
    row.setdefault("gold", row["visible"] and row["relevance"] >= 2)
    return row


def place(chunk_id: str, *pairs: tuple[int, int], **given: Any) -> dict[str, Any]:
    """A passage in source `d`, revision `1`, of one token a character."""
    row = {
        "chunk_id": chunk_id,
        "source_id": "d",
        "revision_id": "1",
        "tokens": sum(end - start for start, end in pairs),
    }
    return row | given | {"spans": spans(pairs)}


def hits(ids: Any) -> list[dict[str, Any]] | None:
    """A ranking; a string is a ranking of one-letter ids."""
    if ids is None:
        return None
    return [{"chunk_id": c, "score": float(len(ids) - i)} for i, c in enumerate(ids)]


def question(question_id: str = "q", **given: Any) -> dict[str, Any]:
    row = {
        "question_id": question_id,
        "answerable": True,
        "labels": "partial",
        "slices": [],
        "required_aspects": [],
        "evidence": [],
        "passages": [],
    }
    return row | given


TYPES: dict[str, pa.DataType] = {
    "question_id": TEXT,
    "answerable": pa.bool_(),
    "labels": TEXT,
    "slices": TEXTS,
    "required_aspects": TEXTS,
    "evidence": pa.list_(LOCATED),
    "passages": PASSAGES,
    "gold_chunks": GOLD_CHUNKS,
    "removed_gold": TEXTS,
    "reference_answer": TEXT,
    "judged": pa.list_(JUDGED),
}


def column_type(name: str) -> pa.DataType:
    """By name: the contract's columns, `scores:ARM` and the like; all others are hits."""
    if name in TYPES:
        return TYPES[name]
    if name.endswith(".error"):
        return TEXT
    if name.partition(":")[0] == "answers":
        return pa.list_(ANSWER)
    kinds = {"ranks": pa.list_(pa.int64()), "severed": TEXTS, "scores": HITS, "extra": pa.float64()}
    return kinds.get(name.partition(":")[0], HITS)


def table(rows: list[dict[str, Any]]) -> pa.Table:
    """Questions as a batch; a column that any row has, the others have as null."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pa.table(
        {name: pa.array([row.get(name) for row in rows], column_type(name)) for name in names}
    )


CONTEXT = Pipeline(later=(Later("s", "context"),))
"""One stage `s` that every metric is measured at."""


def value(
    name: str, *, ranking: Any, gold: Any, passages: Any, config: Any = None, **given: Any
) -> Any:
    """One metric of one question."""
    row = question(evidence=gold, passages=passages, s=hits(ranking), **given)
    result = PerQuery(Metrics(names=[name], **(config or {})), CONTEXT)(table([row]))
    return result[name][0].as_py()
