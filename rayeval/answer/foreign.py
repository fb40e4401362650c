"""Answers that somebody else's pipeline gave, as our own are laid out.

What an answer was handed is the question's stage `context`; in a trace without that stage, the hits
of its last one whose text stands in what the tool kept of the model's input. Where neither tells,
the context is unknown, and whether citations are valid with it.

A citation is a chunk's id, a source's id, or a mark (`E1`, the first of the context). What the
trace doesn't list is read from the answer's text, where only marks are citations. A trace that
lists none, and in whose answers no mark stands, doesn't say what it cites: that is null, not none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from rayeval.answer.citations import mark, marks
from rayeval.answer.refusals import Counted, begins, explains, refuses
from rayeval.words import blank

_BRACKETED = re.compile(r"\[(.*)\]", re.DOTALL)

COUNTS = ("given", "refused", "begin", "explain")
"""Answers that are no errors; those that are refusals; of the others, where the trace doesn't say
which they are, those that begin like one, and those that only go on to say what is missing."""

Hit = Mapping[str, Any]


def handed(
    hits: Sequence[Hit] | None, sent: Sequence[str | None], *, context: bool
) -> list[Hit] | None:
    """What an answer was handed, best first; None where nobody knows.

    hits: of the question at one stage, with `text`; None: it has no such list. sent: texts that the
    tool kept of the model's input. context: the stage is the one that hands over.
    """
    if hits is None:
        return None
    if context or not hits:
        return list(hits)
    texts = [text for text in sent if text]
    return [hit for hit in hits if hit["text"] and any(hit["text"] in t for t in texts)] or None


def answer(
    told: Mapping[str, Any],
    context: Sequence[Hit] | None,
    *,
    marked: bool = False,
    counted: Counted = "whole",
) -> dict[str, Any]:
    """A row of ANSWER.

    told: a row of tables.ANSWERS. context: what it was handed, with `chunk_id` and `source_id`.
    marked: other answers of the trace have marks, so that one without any cites nothing. counted:
    what is a refusal where the trace doesn't say.
    """
    ids = None if context is None else [hit["chunk_id"] for hit in context]
    row = {"variant": "answer", "repeat": told["repeat"] or 0, "context": ids}
    text = (told["answer"] or "").strip()
    abstained = told["abstained"]
    if abstained is None and not blank(text):
        abstained = refuses(text) or (counted == "explained" and explains(text))
    if abstained:
        return {**row, "abstained": True, "citations": []}
    if blank(text):
        return {**row, "error": "the trace has no answer, and does not say that it abstained"}
    cited = told["citations"] or marks(text)
    said = bool(cited) or marked or told["citations"] is not None
    known = said and context is not None
    names = _citations(cited, context or ()) if known else None
    return {**row, "answer": text, "abstained": False, "citations": names}


def counts(
    told: Sequence[Mapping[str, Any]], answers: Sequence[Mapping[str, Any]]
) -> dict[str, int]:
    """What became of a question's answers, as COUNTS says.

    told, answers: rows of tables.ANSWERS, and what `answer` made of each.
    """
    given = [row for row in answers if row.get("error") is None]
    pairs = zip(told, answers, strict=True)
    doubtful = [row["answer"] for one, row in pairs
                if one["abstained"] is None and row.get("abstained") is False]  # fmt: skip
    return {
        "given": len(given),
        "refused": sum(bool(row["abstained"]) for row in given),
        "begin": sum(map(begins, doubtful)),
        "explain": sum(map(explains, doubtful)),
    }


def _citations(cited: Sequence[str], context: Sequence[Hit]) -> list[dict[str, Any]]:
    """Rows of CITATION, each citation once."""
    named = {hit["source_id"]: hit["chunk_id"] for hit in reversed(context) if hit["source_id"]}
    named |= {mark(number): hit["chunk_id"] for number, hit in enumerate(context, start=1)}
    named |= {hit["chunk_id"]: hit["chunk_id"] for hit in context}
    return [{"mark": one, "chunk_id": _named(one, named)} for one in dict.fromkeys(cited)]


def _named(one: str, named: Mapping[str, str]) -> str | None:
    bare = _BRACKETED.fullmatch(one)
    return named.get(one) or (named.get(bare[1]) if bare else None)
