"""DeepEval test cases and goldens, as `EvaluationDataset.save_as` and Confident AI write them.

Mapping. `input` is the question, `expected_output` the reference answer, `actual_output` the
answer. Each of `context` is gold by its text, and a group of its own; `retrieval_context` are the
hits of the stage `retrieved`, best first, with a RetrievedContextData's source. Rows of one input
(a golden and its test cases) are one question: hits are those of the first that has some, answers
its repeats. The names of Confident AI (`expectedOutput`, …) are taken too. In CSV and JSON Lines
passages are split at "|", where DeepEval joins them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from rayeval.errors import Problem
from rayeval.ids import made_question_id
from rayeval.interop.imported import Imported
from rayeval.interop.parts import LABEL, Parts, Row, imported, labelled, quotes
from rayeval.interop.reading import records
from rayeval.interop.records import Record, RefusedError

NAME = "deepeval"
FILES = "DeepEval goldens and test cases: .json, .jsonl or .csv"
NOTES = (
    "`retrieval_context` became the stage `retrieved`",
    'in .csv and .jsonl DeepEval joins passages by "|", so one that holds a "|" comes in pieces; '
    "its .json keeps them whole",
)
OF_GOLD = (
    "each of `context` is gold by its text, and a group of its own (all are needed)",
    f"where there is no `context`, {LABEL}",
)
NAMES = {
    "expected_output": "expectedOutput",
    "actual_output": "actualOutput",
    "retrieval_context": "retrievalContext",
}
SOURCED = re.compile("deepeval_source=(.*?),deepeval_context=(.*)", re.DOTALL)
"""How DeepEval writes a RetrievedContextData."""


def read(paths: Sequence[str]) -> Imported:
    """Questions with gold passages, what was retrieved, and answers."""
    return imported(
        lambda problems: _questions(paths, problems),
        _parts,
        notes=NOTES,
        of_gold=OF_GOLD,
        trace=True,
    )


def _questions(paths: Sequence[str], problems: list[Problem]) -> Iterator[Record]:
    """A record per question: its fields, and in `cases` all rows with its input."""
    asked: dict[str, tuple[Record, list[Row]]] = {}
    for record in records(paths, problems, kinds=[".json", ".jsonl", ".csv"]):
        try:
            row = _row(record)
            first, cases = asked.setdefault(row["input"], (record, []))
            for name in ("expected_output", "context"):
                told = [case[name] for case in cases if case[name]]
                if row[name] and told and told[0] != row[name]:
                    said = f"{first.file}:{first.line} has this input with another `{name}`"
                    raise RefusedError("duplicate_question_id", f"{said}; make them one")
            cases.append(row)
        except RefusedError as error:
            problems.append(record.problem(error))
    for question, (first, cases) in asked.items():
        yield Record(first.file, first.line, {"input": question, "cases": cases})


def _row(record: Record) -> Row:
    value = {**record.value}
    for name in ("context", "retrieval_context", "retrievalContext"):
        if isinstance(value.get(name), str):
            value[name] = value[name].split("|") if value[name] else None
    held = Record(record.file, record.line, value)
    texts = {name: held.text(name, NAMES[name]) for name in ("expected_output", "actual_output")}
    retrieved = ("retrieval_context", NAMES["retrieval_context"])
    known = held.get(*retrieved) is not None
    return {
        "input": held.words("input"),
        "context": held.texts("context"),
        "hits": [_hit(text) for text in held.texts(*retrieved)] if known else None,
        **texts,
    }


def _hit(text: str) -> Row:
    found = SOURCED.fullmatch(text)
    return {"source_id": found[1], "text": found[2]} if found else {"text": text}


def _parts(record: Record) -> Parts:
    question, cases = record.value["input"], record.value["cases"]
    answers = [
        {"answer": case["actual_output"], "context": [hit["text"] for hit in case["hits"] or ()]}
        for case in cases
        if case["actual_output"] is not None
    ]
    row = {
        "question_id": made_question_id(question),
        "question": question,
        "reference_answer": _first(cases, "expected_output"),
        **labelled(quotes(_first(cases, "context") or ())),
    }
    return Parts(
        question=row,
        stages={"retrieved": next((c["hits"] for c in cases if c["hits"] is not None), None)},
        answer=next(iter(answers), None),
        again=answers[1:],
    )


def _first(cases: Sequence[Row], name: str) -> Any:
    return next((case[name] for case in cases if case[name]), None)
