"""Langfuse exports: observations, traces, dataset items; JSON, JSON Lines, CSV.

Mapping. The observations of a trace are one question, as OpenInference spans are (see there): the
stage of an observation of type RETRIEVER is called as it is, its `output` are the hits: texts, or
objects with `content`, `text` or `page_content`, `id`, `score` and `metadata`, in a list or in an
object's `documents` (`results`, …). GENERATION is the LLM. A trace's row, with its `input`,
`output` and `metadata`, is the root. Inputs are taken where they are text, or an object with
`question`, `query` or `input`; outputs too, with `answer`, `response`, … A dataset item (a row with
`expectedOutput`) is a question with its reference answer, and comes without evidence (`labels:
none`), to be labelled; it keeps its id (without one, that is made of the question). A trace's
question has an id made of its text, by which a score joins it with the item of that text. Camel
case and snake case are one; fields may hold JSON as text, and a page of the API is what its `data`
lists.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rayeval.errors import Problem
from rayeval.ids import made_question_id
from rayeval.interop.imported import Imported
from rayeval.interop.parts import LABEL, Parts, Problems, Row, imported
from rayeval.interop.reading import records
from rayeval.interop.records import Record, RefusedError, text_of
from rayeval.interop.span_files import unwrapped
from rayeval.interop.spans import ASKED, SAID, Span, micros, text_in
from rayeval.interop.traces import imported_traces
from rayeval.tables import UNLABELLED

NAME = "langfuse"
FILES = "exported observations, traces or dataset items: .json, .jsonl or .csv"
KINDS = (".json", ".jsonl", ".csv")
PARSED = ("input", "output", "expected_output", "metadata", "observations", "trace")
"""Fields that cells, and the API since version 5, write as JSON text."""
LISTS = ("documents", "results", "matches", "hits", "chunks", "nodes")
"""Fields of an object that hold what a retriever found."""


def read(paths: Sequence[str]) -> Imported:
    """What was retrieved and answered, and the questions of dataset items."""
    problems = Problems()
    traces = imported_traces(_spans(paths, problems), problems)
    items = imported(lambda found: (r for r in _rows(paths, found) if _is_item(r)), _item)
    questions = list(items.questions or ())
    problems.extend(items.problems)
    return Imported(
        questions or None,
        trace=traces.trace,
        answers=traces.answers,
        notes=traces.notes,
        of_gold=[f"dataset items have no gold passages: {LABEL}"] if questions else [],
        made=True,
        places=items.places,
        problems=problems,
    )


def _rows(paths: Sequence[str], problems: list[Problem]) -> Iterator[Record]:
    """Every object under snake case names; a trace's observations after it."""
    for record in unwrapped(records(paths, problems, kinds=KINDS), problems):
        try:
            row = _snaked(record)
            value = dict(row.value)
            listed = row.items("observations") if "observations" in value else []
            inner = [row.inner(o, "observations") for o in listed if not isinstance(o, str)]
            trace = value.get("trace")
            yield row if trace is None else _snaked(row.inner(trace, "trace"))
            yield from map(_snaked, inner)
        except (RefusedError, RecursionError) as error:
            problems.append(record.problem(error))


def _snaked(record: Record) -> Record:
    value = {_snake(key): item for key, item in record.value.items()}
    held = {name: _parsed(value[name]) for name in PARSED if name in value}
    return Record(record.file, record.line, {**value, **held}, record.path)


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", name).lower()


def _parsed(field: Any) -> Any:
    """What a field's JSON says; the field itself where it is none."""
    try:
        return json.loads(field) if isinstance(field, str) and field[:1] in '{["' else field
    except (ValueError, RecursionError):
        return field


def _is_item(record: Record) -> bool:
    return "expected_output" in record.value and "trace_id" not in record.value


def _item(record: Record) -> Parts:
    question = _text(record.get("input"), ASKED)
    if question is None:
        raise record.wrong("input", record.get("input"), "text, or an object with a question")
    expected = record.get("expected_output")
    row: Row = {
        "question_id": record.name("id") or made_question_id(question),
        "question": question,
        "reference_answer": _text(expected, SAID),
        "labels": UNLABELLED,
    }
    return Parts(question=row)


def _spans(paths: Sequence[str], problems: list[Problem]) -> Iterator[Span]:
    for record in _rows(paths, problems):
        if _is_item(record):
            continue
        try:
            yield _observation(record) if "trace_id" in record.value else _whole(record)
        except (RefusedError, RecursionError) as error:
            problems.append(record.problem(error))


def _whole(record: Record) -> Span:
    """A trace's own row: it begins before all of its observations, and ends after them."""
    start = micros(record, "timestamp")
    return Span(
        record.place, record.id("id"), f"trace:{record.id('id')}", None,
        record.text("name") or "trace", "CHAIN", start, start, None, _attributes(record, "CHAIN"),
    )  # fmt: skip


def _observation(record: Record) -> Span:
    kind = record.words("type").upper().replace("GENERATION", "LLM")
    trace = record.id("trace_id")
    failed = record.get("level") == "ERROR"
    start = micros(record, "start_time")
    return Span(
        record.place, trace, record.id("id"),
        record.name("parent_observation_id") or f"trace:{trace}",
        record.text("name") or kind.lower(), kind, start,
        start if record.get("end_time") is None else micros(record, "end_time"),
        (record.text("status_message") or "level ERROR") if failed else None,
        _attributes(record, kind),
    )  # fmt: skip


def _attributes(record: Record, kind: str) -> dict[str, Any]:
    """As OpenInference names them."""
    given, output = record.get("input"), record.get("output")
    found: dict[str, Any] = {
        "input": {"value": _text(given, ASKED)},
        "metadata": record.get("metadata"),
    }
    if kind == "RETRIEVER":
        documents = _documents(output, record)
        if documents is not None:
            found["retrieval"] = {"documents": [{"document": _document(d)} for d in documents]}
    else:
        said = _text(output, SAID)
        found["output"] = {"value": said}
    if kind == "LLM":
        found["llm"] = {"input_messages": _messages(given), "output_messages": _messages(output)}
    return found


def _text(value: Any, names: Sequence[str]) -> str | None:
    """Text, or that of an object's field."""
    value = text_in(value, names) if isinstance(value, Mapping) else value
    said = isinstance(value, str) and bool(value.strip())
    return text_of(value, f"`{names[0]}`") if said else None


def _documents(output: Any, record: Record) -> list[Any] | None:
    listed = output
    if isinstance(output, Mapping):
        listed = next((output[name] for name in LISTS if name in output), output)
    if listed is not None and not isinstance(listed, list):
        raise record.wrong("output", output, "a list of texts or documents")
    return listed


def _document(value: Any) -> Any:
    if not isinstance(value, Mapping):
        return {"content": value}
    texts = (value.get(name) for name in ("content", "text", "page_content", "pageContent"))
    return {**value, "content": next((text for text in texts if text is not None), None)}


def _messages(value: Any) -> list[Any]:
    """What a model was sent, or said: text, a message, or messages."""
    if isinstance(value, Mapping):
        value = value["messages"] if isinstance(value.get("messages"), list) else [value]
    listed = value if isinstance(value, list) else [] if value is None else [value]
    said = [m if isinstance(m, Mapping) else {"content": m} for m in listed]
    plain = (isinstance(m.get("content"), str) for m in said)
    return [{"message": m} for m, is_text in zip(said, plain, strict=True) if is_text]
