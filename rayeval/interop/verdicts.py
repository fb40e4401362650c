"""RAGChecker's claims and verdicts as judgements of answers.

| RAGChecker | verdicts | here |
|---|---|---|
| `answer2response` | one per claim of `response_claims` | the answer's claims: `reference` |
| `retrieved2response` | … and passage | … `support`, and the passages that entail them |
| `response2answer` | one per claim of `gt_answer_claims` | the reference's claims: `answer` |
| `retrieved2answer` | … and passage | … `context`, and the passages that entail them |

Entailment is supported, Contradiction contradicted, Neutral neither. As RAGChecker has it, passages
are looked at one by one: a claim is supported where one of them entails it, else contradicted where
one contradicts it. A row that lacks what other rows of the file have is one that was not judged.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from rayeval.answer_tables import VERDICTS
from rayeval.errors import Problem
from rayeval.interop.parts import Row
from rayeval.interop.records import Record, RefusedError

JUDGE = "RAGChecker's checker"
LABELS = ("Entailment", "Neutral", "Contradiction")
EXPECTED = ", ".join(LABELS[:-1]) + f" or {LABELS[-1]}"
BLOCK_ROWS = 1024


@dataclass(frozen=True)
class Asked:
    """One list of verdicts."""

    claims: str
    """The field with what was judged."""
    name: str
    """Of the verdict, in a claim."""
    task: str
    """As outcomes call it."""
    absent: str
    """What Neutral means."""
    by_passage: bool = False


LISTS = {"response_claims": "claims", "gt_answer_claims": "reference_claims"}
"""RAGChecker's lists of claims → ours, and the task that makes them."""
FIELDS = {
    "answer2response": Asked("response_claims", "reference", "reference", "not_in_reference"),
    "retrieved2response": Asked("response_claims", "support", "support", "not_in_context", True),
    "response2answer": Asked("gt_answer_claims", "answer", "recall", "not_in_answer"),
    "retrieved2answer": Asked(
        "gt_answer_claims", "context", "reference_support", "not_in_context", True
    ),
}


def asked_of(record: Record) -> set[str]:
    """The fields with verdicts that a row has."""
    return {name for name in FIELDS if record.get(name) is not None}


def verdict_tables(
    results: Iterable[Record], asked: Sequence[str], problems: list[Problem]
) -> Iterator[pa.Table]:
    """Tables of schema VERDICTS, a row for every result with an answer.

    asked: the fields that some result has. What is no list of verdicts is a problem.
    """
    block: list[Row] = []
    for record in results:
        try:
            name = record.id("query_id")
        except RefusedError:
            continue  # a problem of the question already
        try:
            if record.text("response"):
                block.append({"question_id": name, **_row(record, asked)})
        except RefusedError as error:
            problems.append(record.problem(error, name))
        if len(block) == BLOCK_ROWS:
            yield pa.Table.from_pylist(block, schema=VERDICTS)
            block = []
    yield pa.Table.from_pylist(block, schema=VERDICTS)


def _row(record: Record, asked: Sequence[str]) -> Row:
    passages = [hit.text("text") or "" for hit in record.objects("retrieved_context")]
    lists = {field: _claims(record, field) for field in LISTS}
    outcomes = []
    for field in dict.fromkeys(FIELDS[name].claims for name in asked):
        outcomes.append(_outcome(record, field, LISTS[field]))
    for field in asked:
        about = FIELDS[field]
        if record.get(field) is not None:
            _note(record, field, lists[about.claims], len(passages))
        outcomes.append(_outcome(record, field, about.task))
    told = {ours: lists[field] for field, ours in LISTS.items()}
    return {"repeat": 0, "judge": JUDGE, "passages": passages, **told, "outcomes": outcomes}


def _claims(record: Record, field: str) -> list[Row] | None:
    """The claims, each a text or subject, predicate and object."""
    if record.get(field) is None:
        return None
    claims = []
    for number, claim in enumerate(record.items(field)):
        words = [claim] if isinstance(claim, str) else claim
        if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
            raise record.wrong(f"{field}[{number}]", claim, "a claim: text, or a list of texts")
        claims.append({"text": " ".join(words)})
    return claims


def _outcome(record: Record, field: str, task: str) -> Row:
    if record.get(field) is not None:
        return {"task": task, "outcome": "ok"}
    reason = f"`{record.path}{field}` is null, and other rows of the file have it"
    return {"task": task, "outcome": "failed", "reason": reason}


def _note(record: Record, field: str, claims: list[Row] | None, passages: int) -> None:
    """Sets the verdicts of every claim."""
    about = FIELDS[field]
    verdicts = record.items(field)
    if claims is None or len(verdicts) != len(claims):
        there = f"{len(claims)} claims" if claims is not None else "null"
        said = f"{len(verdicts)} verdicts, and `{about.claims}` is {there}"
        raise RefusedError("wrong_count", f"`{record.path}{field}` has {said}; check the row again")
    for number, (claim, verdict) in enumerate(zip(claims, verdicts, strict=True)):
        place = f"{field}[{number}]"
        if about.by_passage:
            labels = _by_passage(record, place, verdict, passages)
            marks = [f"E{n}" for n, label in enumerate(labels, start=1) if label == "Entailment"]
            claim["chunks"] = marks
        else:
            labels = [_label(record, place, verdict)]
        claim[about.name] = _verdict(labels, about.absent)


def _by_passage(record: Record, place: str, verdict: Any, passages: int) -> list[str]:
    if not isinstance(verdict, list):
        raise record.wrong(place, verdict, "a list: a verdict for each passage")
    if len(verdict) != passages:
        said = f"{len(verdict)} verdicts, and `retrieved_context` has {passages} passages"
        raise RefusedError("wrong_count", f"`{record.path}{place}` has {said}; check the row again")
    return [_label(record, f"{place}[{n}]", label) for n, label in enumerate(verdict)]


def _label(record: Record, place: str, label: Any) -> str:
    if label not in LABELS:
        said = f"`{record.path}{place}` is {str(label)[:60]!r}, expected {EXPECTED}"
        raise RefusedError("unknown_verdict", said)
    return str(label)


def _verdict(labels: Sequence[str], absent: str) -> str:
    if "Entailment" in labels:
        return "supported"
    return "contradicted" if "Contradiction" in labels else absent
