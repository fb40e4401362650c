"""Spans put together: a production trace is one question with its stages and its answer."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rayeval.errors import Problem
from rayeval.ids import made_question_id
from rayeval.interop.imported import Imported
from rayeval.interop.nesting import at, list_of, object_of
from rayeval.interop.parts import Row, answer_tables, foreign_tables
from rayeval.interop.records import Record, RefusedError, text_of
from rayeval.interop.retrieved import stages_of
from rayeval.interop.spans import Span
from rayeval.interop.spill import Spill
from rayeval.words import plural, verb


@dataclass(frozen=True)
class Trace:
    """One question as it was asked once."""

    question_id: str
    stages: Sequence[Row]
    answer: Row | None


def imported_traces(spans: Iterable[Span], problems: list[Problem]) -> Imported:
    """All spans' traces, by the time of their first span; a question asked again is a repeat."""
    notes: list[str] = []
    stages, answers = Spill[Row](), Spill[Row]()
    asked: dict[str, int] = {}
    fused = False
    for trace in _traces(spans, notes, problems):
        repeat = asked.get(trace.question_id, 0)
        asked[trace.question_id] = repeat + 1
        for stage in () if repeat else trace.stages:
            stages.add(stage)
        fused = fused or any(stage["stage"] == "fused" for stage in trace.stages)
        if trace.answer is not None:
            answers.add({**trace.answer, "repeat": repeat})
    again = sum(count - 1 for count in asked.values())
    if again:
        ask = verb(again, "asks", "ask")
        said = f"{ask} a question again: hits are those of the first time, answers are repeats"
        notes.append(f"{plural(again, 'trace')} {said}")
    if fused:
        said = "a retriever that joins what others within it found became the stage `fused`"
        notes.append(f"{said}, those before it its arms")
    return Imported(
        trace=foreign_tables(stages),
        answers=answer_tables(answers),
        notes=notes,
        made=True,
        problems=problems,
    )


def _traces(spans: Iterable[Span], notes: list[str], problems: list[Problem]) -> Iterator[Trace]:
    """By start, then id."""
    without = 0
    for members in _grouped(spans):
        depth = _depths(members)
        members.sort(key=lambda s: (s.end_us, -depth[s.span_id], s.start_us, s.span_id))
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


def _grouped(spans: Iterable[Span]) -> Iterator[list[Span]]:
    """The spans of every trace, in their order; traces by start, then id.

    The spans of one trace may lie anywhere in the files, so all are set aside before the first
    trace is whole: in memory is where they are, and no more.
    """
    kept = Spill[Span]()
    places: defaultdict[str, array[int]] = defaultdict(lambda: array("q"))
    starts: dict[str, int] = {}
    for span in spans:
        name = span.trace_id
        places[name].append(kept.add(span))
        starts[name] = min(span.start_us, starts.get(name, span.start_us))
    for name in sorted(places, key=lambda name: (starts[name], name)):
        yield [kept.at(place) for place in places[name]]


def _depths(members: Sequence[Span]) -> dict[str, int]:
    """How many spans each lies in: where both end in one millisecond, the inner one ended first."""
    parents = {span.span_id: span.parent_id for span in members}

    def depth(name: str) -> int:
        above: list[str] = []
        parent = parents[name]
        while parent is not None and parent in parents and parent not in above:
            above.append(parent)
            parent = parents[parent]
        return len(above)

    return {name: depth(name) for name in parents}


def _root(members: Sequence[Span]) -> Span:
    """The first span whose parent is not among them."""
    ids = {span.span_id for span in members}
    roots = [span for span in members if span.parent_id not in ids] or list(members)
    return min(roots, key=lambda span: (span.start_us, span.span_id))


def _trace(root: Span, members: Sequence[Span]) -> Trace:
    question = _question(root, members)
    name = _named(root, members)
    if name is None and question is None:
        message = f"trace {root.trace_id!r}: no span says the question as text (`input.value`)"
        raise RefusedError("missing_field", f"{message}; put `question_id` into its metadata")
    if question is not None:
        question = text_of(question, f"the question of trace {root.trace_id!r}")
    name = name or made_question_id(question or "")
    answer = _answer(root, members)
    return Trace(
        name,
        [{"question_id": name, **stage} for stage in stages_of(members)],
        None if answer is None else {"question_id": name, **answer},
    )


def _named(root: Span, members: Sequence[Span]) -> str | None:
    """`question_id` in the metadata of the root, else of the first span that has it."""
    for span in (root, *sorted(members, key=lambda span: span.start_us)):
        given = span.at("metadata")
        metadata = span.record.inner(object_of(given, "metadata"), "metadata")
        name = metadata.name("question_id")
        if name is not None:
            return name
    return None


def _question(root: Span, members: Sequence[Span]) -> str | None:
    retrievers = [span for span in members if span.kind == "RETRIEVER"]
    first = sorted(retrievers, key=lambda span: (span.start_us, -span.end_us))
    found = [span.said("input") for span in (root, *first)]
    found += [span.at("reranker.query") for span in members if span.kind == "RERANKER"]
    for span in members:
        messages = [_message(m) for m in span.list_at("llm.input_messages")]
        found += [text for role, text in reversed(messages) if role == "user"][:1]
    return next((text for text in found if isinstance(text, str) and text.strip()), None)


def _message(entry: Record) -> tuple[str | None, str]:
    message = entry.inner(entry.get("message") or {}, f"{entry.path}message")
    texts = [message.text("content") or ""]
    for part in message.objects("contents"):
        content = part.inner(part.get("message_content") or {}, f"{part.path}message_content")
        texts.append(content.text("text") or "")
    return message.text("role"), "\n".join(text for text in texts if text)


def _answer(root: Span, members: Sequence[Span]) -> Row | None:
    """What the root says, else what the last model said; with what that model was sent."""
    models = [span for span in members if span.kind == "LLM"]
    said = [text for span in models for text in _replies(span)]
    whole = root.said("output") if root.kind != "RETRIEVER" else None
    answer = whole or next(reversed(said), None)
    sent = next((texts for span in reversed(models) if (texts := _sent(span))), None)
    return None if not answer else {"answer": answer, "context": sent}


def _replies(model: Span) -> list[str]:
    said = [_message(m)[1] for m in model.list_at("llm.output_messages")]
    return [text for text in said or [model.said("output") or ""] if text]


def _sent(model: Span) -> list[str]:
    """The messages, or the prompts of a model that completes text."""
    messages = [_message(m)[1] for m in model.list_at("llm.input_messages")]
    prompts = list_of(model.at("llm.prompts"), "llm.prompts")
    given = [at(p, "prompt.text") if isinstance(p, Mapping) else p for p in prompts or ()]
    return messages or [text for text in given if isinstance(text, str)]
