"""Answers that somebody else's trace brings with it, as our own are."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rayeval.answer.citations import citations, marks
from rayeval.answer.refusals import refuses
from rayeval.tables import ANSWERED, TEXT

TEXTS = pa.list_(pa.struct([("chunk_id", TEXT), ("text", TEXT)]))
GIVEN = pa.schema([*list(ANSWERED)[:-1], ("texts", TEXTS), ANSWERED.field("error")])
"""ANSWERED, and what the chunks of contexts say, as far as the trace tells."""
_MARK = re.compile(r"\[?(E[0-9]+)\]?")


class Given:
    """A stage: `question_id`, `trace` (a list of `stage, hits`) and `passages` (a list of
    `chunk_id, text`) of a foreign trace → GIVEN.

    answers: ANSWERS. Of one that names no context it is the hits of the question's last stage.
    """

    def __init__(self, answers: pa.Table) -> None:
        self._answers = answers

    def __call__(self, batch: pa.Table) -> pa.Table:
        """A row per question, in order; one that the trace has no answer to has none."""
        ids = batch["question_id"]
        found = self._answers.filter(pc.is_in(self._answers["question_id"], value_set=ids))
        answers: dict[str, list[dict[str, Any]]] = {}
        for row in found.sort_by("repeat").to_pylist():
            answers.setdefault(row["question_id"], []).append(row)
        rows = [self._row(row, answers.get(row["question_id"], [])) for row in batch.to_pylist()]
        return pa.Table.from_pylist(rows, schema=GIVEN)

    def _row(self, row: Mapping[str, Any], answers: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        texts = {one["chunk_id"]: one["text"] for one in row["passages"] or ()}
        stages = [one["hits"] for one in row["trace"] or () if one["hits"] is not None]
        hits = [hit["chunk_id"] for hit in stages[-1]] if stages else None
        said = list(_answers(answers, texts, hits))
        listed = [{"chunk_id": chunk, "text": text} for chunk, text in texts.items()]
        return {"question_id": row["question_id"], "answers": said, "texts": listed}


def _answers(
    answers: Sequence[Mapping[str, Any]], texts: dict[str, str | None], hits: list[str] | None
) -> Iterator[dict[str, Any]]:
    """Rows of ANSWER; what contexts say that are no passages of the trace goes into `texts`."""
    for row in answers:
        answer = row["answer"]
        abstained = row["abstained"]
        if abstained is None and answer is not None:
            abstained = refuses(answer)
        given = row["context"] if row["context"] and None not in row["context"] else None
        context = hits if given is None else _context(given, texts)
        yield {
            "variant": "answer",
            "repeat": row["repeat"] or 0,
            "answer": None if abstained else answer,
            "abstained": abstained,
            "citations": _citations(row["citations"], answer, context or ()),
            "context": context,
        }


def _context(given: Sequence[str], texts: dict[str, str | None]) -> list[str]:
    """Chunk ids of a context that names passages by their ids or by what they say."""
    named = {text: chunk for chunk, text in texts.items() if text is not None}
    context = []
    for one in given:
        chunk = one if one in texts else named.get(one)
        if chunk is None and any(map(str.isspace, one)):
            chunk = f"text-{hashlib.sha256(one.encode()).hexdigest()[:16]}"
            texts[chunk] = one
        context.append(one if chunk is None else chunk)
    return context


def _citations(
    given: Sequence[str] | None, answer: str | None, context: Sequence[str]
) -> list[dict[str, Any]]:
    """Rows of CITATION: what the trace lists, chunk ids or marks; else the marks in the text."""
    if not given:
        return citations(marks(answer or ""), context)
    found = []
    for one in dict.fromkeys(given):
        mark = _MARK.fullmatch(one)
        if one in context or mark is None:
            found.append({"mark": one, "chunk_id": one if one in context else None})
        else:
            found += citations([mark[1]], context)
    return found
