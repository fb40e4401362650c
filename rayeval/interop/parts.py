"""Records put together as what an importer gives, one question or document at a time."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from rayeval.errors import Problem
from rayeval.interop.imported import Imported
from rayeval.interop.records import Record, RefusedError
from rayeval.tables import ANSWERS, FOREIGN, UNLABELLED

BLOCK_QUESTIONS = 1024
Row = dict[str, Any]
LABEL = (
    "those questions have `labels: none`; run the golden set, or `score` a trace of it with "
    "--corpus, and grade the run's hits with `golden label RUN`"
)
"""What to do with questions whose format has no gold."""


@dataclass(frozen=True)
class Parts:
    """What one record becomes."""

    question: Row | None = None
    documents: Sequence[Row] = ()
    stages: Mapping[str, list[Row] | None] = field(default_factory=dict)
    """Hits by stage, in the pipeline's order; None: that list is not in this record."""
    answer: Row | None = None
    """`answer` and what else of tables.ANSWERS is known."""
    again: Sequence[Row] = ()
    """Further answers to the question, as its repeats."""


Reader = Callable[[list[Problem]], Iterator[Record]]
Convert = Callable[[Record], Parts]
Pairs = Iterator[tuple[Record, Parts]]


class Problems(list[Problem]):
    """Each problem once, however often the files are read."""

    def __init__(self) -> None:
        super().__init__()
        self._known: set[Problem] = set()

    def append(self, problem: Problem) -> None:
        """Adds it, unless it is known."""
        if problem not in self._known:
            self._known.add(problem)
            super().append(problem)

    def extend(self, problems: Iterable[Problem]) -> None:
        """Adds those that are not known."""
        for problem in problems:
            self.append(problem)


def imported(
    read: Reader,
    convert: Convert,
    *,
    notes: Sequence[str] = (),
    of_gold: Sequence[str] = (),
    documents: bool = False,
    trace: bool = False,
) -> Imported:
    """What `convert` makes of every record; the files are read anew for every part.

    documents, trace: whether the format has some.
    """
    problems, places = Problems(), dict[str, Record]()

    def pairs() -> Pairs:
        return _converted(read(problems), convert, problems)

    return Imported(
        questions=distinct_questions(pairs(), places, problems),
        documents=distinct_documents(pairs(), problems) if documents else None,
        trace=foreign_tables(_stage_rows(pairs())) if trace else None,
        answers=answer_tables(_answer_rows(pairs())) if trace else None,
        notes=notes,
        of_gold=of_gold,
        made=trace,
        problems=problems,
        places=places,
    )


def _converted(records: Iterable[Record], convert: Convert, problems: list[Problem]) -> Pairs:
    for record in records:
        try:
            yield record, convert(record)
        except (RefusedError, RecursionError) as error:
            problems.append(record.problem(error))


def distinct_questions(
    pairs: Pairs, places: dict[str, Record], problems: list[Problem]
) -> Iterator[Row]:
    """The questions; one whose id was there before is a problem.

    places: filled with where each stands.
    """
    for record, parts in pairs:
        if parts.question is None:
            continue
        name = parts.question["question_id"]
        if name in places:
            said = f"{record.item}{places[name].said_place} is this question already; drop one, or "
            said += "give both ids of their own"
            problems.append(record.problem(RefusedError("duplicate_question_id", said), name))
            continue
        places[name] = record.place
        yield compact(parts.question)


def distinct_documents(pairs: Pairs, problems: list[Problem]) -> Iterator[Row]:
    """Every document once; one id for two texts is a problem."""
    known: dict[str, bytes] = {}
    for record, parts in pairs:
        for document in parts.documents:
            name = document["source_id"]
            digest = hashlib.blake2b(document["text"].encode(), digest_size=16).digest()
            if name not in known:
                known[name] = digest
                yield compact(document)
            elif known[name] != digest:
                said = f"document {name!r} is there with another text before; rename one"
                problems.append(record.problem(RefusedError("duplicate_source_id", said)))


def foreign_tables(rows: Iterable[Row]) -> Iterator[pa.Table]:
    """Rows of FOREIGN, a question's together, as tables."""
    return _blocks(rows, FOREIGN)


def answer_tables(rows: Iterable[Row]) -> Iterator[pa.Table]:
    """Rows of ANSWERS as tables."""
    return _blocks(rows, ANSWERS)


def _stage_rows(pairs: Pairs) -> Iterator[Row]:
    for _, parts in pairs:
        for stage, hits in parts.stages.items():
            if hits is not None and parts.question is not None:
                name = parts.question["question_id"]
                yield {"question_id": name, "stage": stage, "hits": hits}


def _answer_rows(pairs: Pairs) -> Iterator[Row]:
    for _, parts in pairs:
        answers = [answer for answer in (parts.answer, *parts.again) if answer is not None]
        for repeat, answer in enumerate(answers if parts.question else ()):
            yield {"repeat": repeat, **answer, "question_id": (parts.question or {})["question_id"]}


def _blocks(rows: Iterable[Row], schema: pa.Schema) -> Iterator[pa.Table]:
    """Cut between questions only."""
    block: list[Row] = []
    last, count = None, 0
    for row in rows:
        if row["question_id"] != last:
            last, count = row["question_id"], count + 1
            if count > BLOCK_QUESTIONS:
                yield pa.Table.from_pylist(block, schema=schema)
                block, count = [], 1
        block.append(row)
    if block:
        yield pa.Table.from_pylist(block, schema=schema)


def compact(row: Row) -> Row:
    """Without what is null: null equals absent."""
    return {key: value for key, value in row.items() if value is not None}


def quotes(texts: Iterable[str]) -> list[Row]:
    """Passages as evidence, each its own group; blank ones hold nothing, the same counts once."""
    return [{"quote": text} for text in dict.fromkeys(texts) if text.strip()]


def labelled(evidence: Sequence[Row]) -> Row:
    """A question's evidence; one that came without any is unlabelled, not unanswerable."""
    return {"evidence": evidence} if evidence else {"labels": UNLABELLED}
