"""Langfuse exports: observations, traces, dataset items; JSON, JSON Lines, CSV.

Mapping. The observations of a trace are one question, as OpenInference spans are (see there): the
stage of an observation of type RETRIEVER is called as it is, its `output` are the hits: texts, or
objects with `content`, `text` or `page_content`, `id`, `score` and `metadata`. GENERATION is the
LLM. A trace's row, with its `input`, `output` and `metadata`, is the root. Inputs are taken where
they are text, or an object with `question`, `query` or `input`. A dataset item (a row with
`expectedOutput`) is a question with its reference answer, and comes without evidence (`labels:
none`), to be labelled. Camel case and snake case are one; cells of CSV hold JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rayeval.errors import Problem
from rayeval.interop.imported import Imported
from rayeval.interop.parts import LABEL, Parts, Problems, Row, imported
from rayeval.interop.reading import extension, records
from rayeval.interop.records import Record, RefusedError
from rayeval.interop.spans import Span, micros
from rayeval.interop.traces import imported_traces
from rayeval.tables import UNLABELLED

NAME = "langfuse"
FILES = "exported observations, traces or dataset items: .json, .jsonl or .csv"
KINDS = (".json", ".jsonl", ".csv")


def read(paths: Sequence[str]) -> Imported:
    """What was retrieved and answered, and the questions of dataset items."""
    problems = Problems()
    traces = imported_traces(_spans(paths, problems), problems)
    items = imported(lambda found: (r for r in _rows(paths, found) if _is_item(r)), _item, notes=())
    questions = list(items.questions or ())
    problems.extend(items.problems)
    return Imported(
        questions or None,
        trace=traces.trace,
        answers=traces.answers,
        notes=[
            *traces.notes,
            *([f"dataset items have no gold passages: {LABEL}"] if questions else []),
        ],
        problems=problems,
    )


def _rows(paths: Sequence[str], problems: list[Problem]) -> Iterator[Record]:
    """Every object under snake case names; a trace's observations after it."""
    for record in records(paths, problems, kinds=KINDS):
        value = {_snake(key): item for key, item in record.value.items()}
        if extension(record.file) == ".csv":
            value = {key: _cell(item) for key, item in value.items()}
        try:
            row = Record(record.file, record.line, value)
            listed = row.items("observations") if "observations" in value else []
            inner = [row.inner(o, "observations") for o in listed if not isinstance(o, str)]
            trace = value.pop("trace", None)
            yield row if trace is None else _snaked(row.inner(trace, "trace"))
            yield from map(_snaked, inner)
        except RefusedError as error:
            problems.append(record.problem(error))


def _snaked(record: Record) -> Record:
    value = {_snake(key): item for key, item in record.value.items()}
    return Record(record.file, record.line, value, record.path)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()


def _cell(cell: Any) -> Any:
    """What a cell's JSON says; the cell itself where it is none."""
    try:
        return json.loads(cell) if isinstance(cell, str) and cell[:1] in '{["' else cell
    except ValueError:
        return cell


def _is_item(record: Record) -> bool:
    return "expected_output" in record.value and "trace_id" not in record.value


def _item(record: Record) -> Parts:
    question = _asked(record.get("input"))
    if question is None:
        raise record.wrong("input", record.get("input"), "text, or an object with a question")
    expected = record.get("expected_output")
    row: Row = {
        "question_id": record.id("id"),
        "question": question,
        "reference_answer": expected if isinstance(expected, str) else None,
        "labels": UNLABELLED,
    }
    return Parts(question=row)


def _asked(value: Any) -> str | None:
    if isinstance(value, Mapping):
        value = next((v for k in ("question", "query", "input") if (v := value.get(k))), None)
    return value if isinstance(value, str) and value.strip() else None


def _spans(paths: Sequence[str], problems: list[Problem]) -> Iterator[Span]:
    for record in _rows(paths, problems):
        if _is_item(record):
            continue
        try:
            yield _observation(record) if "trace_id" in record.value else _whole(record)
        except RefusedError as error:
            problems.append(record.problem(error))


def _whole(record: Record) -> Span:
    """A trace's own row: it begins before all of its observations, and ends after them."""
    start = micros(record, "timestamp")
    return Span(
        record, record.id("id"), f"trace:{record.id('id')}", None, record.text("name") or "trace",
        "CHAIN", start, start, None, _attributes(record, "CHAIN"),
    )  # fmt: skip


def _observation(record: Record) -> Span:
    kind = {"GENERATION": "LLM"}.get(record.words("type"), record.words("type"))
    trace = record.id("trace_id")
    failed = record.get("level") == "ERROR"
    start = micros(record, "start_time")
    return Span(
        record, trace, record.id("id"), record.name("parent_observation_id") or f"trace:{trace}",
        record.text("name") or kind.lower(), kind, start,
        start if record.get("end_time") is None else micros(record, "end_time"),
        (record.text("status_message") or "level ERROR") if failed else None,
        _attributes(record, kind),
    )  # fmt: skip


def _attributes(record: Record, kind: str) -> dict[str, Any]:
    """As OpenInference names them."""
    output = record.get("output")
    found: dict[str, Any] = {
        "input": {"value": _asked(record.get("input"))},
        "metadata": record.get("metadata"),
    }
    if kind == "RETRIEVER" and output is not None:
        if not isinstance(output, list):
            raise record.wrong("output", output, "a list of texts or documents")
        found["retrieval"] = {"documents": [{"document": _document(d)} for d in output]}
    elif isinstance(output, str):
        found["output"] = {"value": output}
        found["llm"] = {"output_messages": [{"message": {"content": output}}]}
    return found


def _document(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return {"content": value}
    texts = (value.get(name) for name in ("content", "text", "page_content", "pageContent"))
    return {**value, "content": next((text for text in texts if text is not None), None)}
