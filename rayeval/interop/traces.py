"""Spans put together: a production trace is one question with its stages and its answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rayeval.errors import Problem
from rayeval.ids import made_question_id
from rayeval.interop.imported import Imported
from rayeval.interop.parts import Row, answer_tables, foreign_tables
from rayeval.interop.records import Record, RefusedError
from rayeval.interop.spans import Span, object_of
from rayeval.words import plural, verb

REDACTED = "__REDACTED__"
"""What OpenInference writes instead of a text that is to be hidden."""


@dataclass(frozen=True)
class Trace:
    """One question as it was asked once."""

    question_id: str
    stages: Sequence[Row]
    answer: Row | None


def imported_traces(spans: Iterable[Span], problems: list[Problem]) -> Imported:
    """All spans' traces, by the time of their first span; a question asked again is a repeat."""
    notes: list[str] = []
    stages: list[Row] = []
    answers: list[Row] = []
    asked: dict[str, int] = {}
    for trace in _traces(spans, notes, problems):
        repeat = asked.get(trace.question_id, 0)
        asked[trace.question_id] = repeat + 1
        stages += () if repeat else trace.stages
        if trace.answer is not None:
            answers.append({**trace.answer, "repeat": repeat})
    again = sum(count - 1 for count in asked.values())
    if again:
        ask = verb(again, "asks", "ask")
        said = f"{ask} a question again: hits are those of the first time, answers are repeats"
        notes.append(f"{plural(again, 'trace')} {said}")
    return Imported(
        trace=foreign_tables(stages), answers=answer_tables(answers), notes=notes, problems=problems
    )


def _traces(spans: Iterable[Span], notes: list[str], problems: list[Problem]) -> Iterator[Trace]:
    """By start, then id."""
    grouped: dict[str, list[Span]] = {}
    for span in spans:
        grouped.setdefault(span.trace_id, []).append(span)
    ordered = sorted(grouped.items(), key=lambda item: (min(s.start_us for s in item[1]), item[0]))
    without = 0
    for _, members in ordered:
        members.sort(key=lambda span: (span.end_us, span.start_us, span.span_id))
        if not any(span.kind in ("RETRIEVER", "RERANKER") for span in members):
            without += 1
            continue
        root = _root(members)
        try:
            yield _trace(root, members)
        except RefusedError as error:
            problems.append(root.record.problem(error))
    if without:
        told = verb(without, "retrieves nor reranks and is", "retrieve nor rerank and are")
        notes.append(f"{plural(without, 'trace')} neither {told} left out")


def _root(members: Sequence[Span]) -> Span:
    """The first span whose parent is not among them."""
    ids = {span.span_id for span in members}
    roots = [span for span in members if span.parent_id not in ids] or list(members)
    return min(roots, key=lambda span: (span.start_us, span.span_id))


def _trace(root: Span, members: Sequence[Span]) -> Trace:
    question = _question(root, members)
    metadata = root.record.inner(object_of(root.at("metadata"), "metadata"), "metadata")
    name = metadata.name("question_id")
    if name is None and question is None:
        message = f"trace {root.trace_id!r}: no span says the question as text (`input.value`)"
        raise RefusedError("missing_field", f"{message}; put `question_id` into its metadata")
    name = name or made_question_id(question or "")
    answer = _answer(root, members)
    return Trace(
        name,
        [{"question_id": name, **stage} for stage in _stages(members)],
        None if answer is None else {"question_id": name, **answer},
    )


def _question(root: Span, members: Sequence[Span]) -> str | None:
    retrievers = [span for span in members if span.kind == "RETRIEVER"]
    found = [_plain(span, "input") for span in (root, *retrievers)]
    found += [span.at("reranker.query") for span in members if span.kind == "RERANKER"]
    for span in members:
        messages = [_message(m) for m in span.list_at("llm.input_messages")]
        found += [text for role, text in reversed(messages) if role == "user"][:1]
    return next((text for text in found if isinstance(text, str) and text.strip()), None)


def _plain(span: Span, side: str) -> str | None:
    """`input.value` or `output.value`, unless it is JSON or hidden."""
    value = span.at(f"{side}.value")
    json_value = span.at(f"{side}.mime_type") == "application/json"
    return value if isinstance(value, str) and value != REDACTED and not json_value else None


def _message(entry: Record) -> tuple[str | None, str]:
    message = entry.inner(entry.get("message") or {}, f"{entry.path}message")
    texts = [message.text("content") or ""]
    for part in message.objects("contents"):
        content = part.inner(part.get("message_content") or {}, f"{part.path}message_content")
        texts.append(content.text("text") or "")
    return message.text("role"), "\n".join(text for text in texts if text)


def _answer(root: Span, members: Sequence[Span]) -> Row | None:
    models = [span for span in members if span.kind == "LLM"]
    said = [_message(m)[1] for span in models for m in span.list_at("llm.output_messages")]
    whole = _plain(root, "output") if root.kind != "RETRIEVER" else None
    answer = whole or next(reversed(said), None)
    sent = [_message(m)[1] for span in models[-1:] for m in span.list_at("llm.input_messages")]
    return None if not answer else {"answer": answer, "context": sent or None}


def _stages(members: Sequence[Span]) -> Iterator[Row]:
    """FOREIGN rows but for the question, in the order in which the spans ended."""
    taken: dict[str, int] = {}
    retrieved = False
    for span in members:
        if span.kind == "RERANKER":
            if not retrieved and span.at("reranker.input_documents") is not None:
                hits = _hits(span, "reranker.input_documents")
                yield {"stage": _numbered("reranker input", taken), "hits": hits}
            yield _stage(span, _numbered("reranked", taken), "reranker.output_documents")
        elif span.kind == "RETRIEVER":
            retrieved = True
            yield _stage(span, _numbered(span.name, taken), "retrieval.documents")


def _numbered(name: str, taken: dict[str, int]) -> str:
    taken[name] = taken.get(name, 0) + 1
    return name if taken[name] == 1 else f"{name} {taken[name]}"


def _stage(span: Span, name: str, documents: str) -> Row:
    failed = span.error is not None and span.at(documents) is None
    return {
        "stage": name,
        "hits": None if failed else _hits(span, documents),
        "latency_ms": span.latency_ms,
        "error": span.error if failed else None,
    }


def _hits(span: Span, documents: str) -> list[dict[str, Any]]:
    return [_hit(entry) for entry in span.list_at(documents)]


def _hit(entry: Record) -> dict[str, Any]:
    document = entry.inner(entry.get("document"), f"{entry.path}document")
    at = f"{document.path}metadata"
    metadata = document.inner(object_of(document.get("metadata"), at), at)
    text = document.text("content")
    hit: dict[str, Any] = {
        "chunk_id": document.name("id"),
        "source_id": metadata.name("source_id"),
        "revision_id": metadata.name("revision_id"),
        "text": None if text == REDACTED else text,
        "score": document.number("score"),
    }
    if metadata.get("start_char") is not None and metadata.get("end_char") is not None:
        span = {name: metadata.whole(name) for name in ("start_char", "end_char")}
        hit["spans"] = [span]
    if not any(hit[name] for name in ("chunk_id", "source_id", "text")):
        message = f"`{document.path}content` is missing or hidden, and so are id and source"
        raise RefusedError("missing_field", message)
    return hit
