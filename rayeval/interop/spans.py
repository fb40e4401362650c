"""Spans of tracing tools: what they share, whatever file they came in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rayeval.interop.nesting import at, list_of, object_of
from rayeval.interop.records import Record, RefusedError

REDACTED = "__REDACTED__"
"""What OpenInference writes instead of a text that is to be hidden."""
ASKED = ("question", "query", "input", "query_str")
SAID = ("answer", "response", "result", "output")
"""Fields of an object that hold the question, and the answer."""


@dataclass(frozen=True)
class Span:
    """One span. `attributes` are nested: `retrieval.documents.0.document.id` is a path in them."""

    record: Record
    """Where it stands; what it says is in the other fields."""
    trace_id: str
    span_id: str
    parent_id: str | None
    name: str
    kind: str
    """OpenInference's, in capitals: RETRIEVER, RERANKER, LLM, …"""
    start_us: int
    end_us: int
    error: str | None
    attributes: Mapping[str, Any]

    @property
    def latency_ms(self) -> float:
        """How long it took."""
        return (self.end_us - self.start_us) / 1000

    def at(self, path: str) -> Any:
        """The attribute at a dotted path, or null."""
        return at(self.attributes, path)

    def list_at(self, path: str) -> list[Record]:
        """The objects of a list; empty where there is none."""
        value = list_of(self.at(path), path)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.record.wrong(path, value, "a list")
        return [self.record.inner(item, f"{path}[{i}]") for i, item in enumerate(value)]

    def said(self, side: str) -> str | None:
        """The text of `input.value` or `output.value`; in an object that of ASKED or SAID.

        Null where it is hidden, blank, or anything else.
        """
        value = self.at(f"{side}.value")
        if self.at(f"{side}.mime_type") == "application/json":
            try:
                value = text_in(object_of(value, side), ASKED if side == "input" else SAID)
            except RefusedError:
                value = None
        kept = isinstance(value, str) and value != REDACTED and bool(value.strip())
        return value if kept else None


def text_in(value: Mapping[str, Any], names: Sequence[str]) -> str | None:
    """The first of these fields that holds text, or an object that has it in one of them."""
    for inner in map(value.get, names):
        found = text_in(inner, names) if isinstance(inner, Mapping) else inner
        if isinstance(found, str) and found.strip():
            return found
    return None


def said_error(message: Any, otherwise: str) -> str:
    """What went wrong, without the traceback that some tools put behind it."""
    said = message.partition("Traceback (most recent call last)")[0] if message else ""
    return said.strip() or otherwise


def kind_of(attributes: Mapping[str, Any], column: str | None) -> str:
    """The span's kind, by its attribute or its column; nothing where neither says."""
    kind = at(attributes, "openinference.span.kind")
    return (kind if isinstance(kind, str) else column or "").upper()


def micros(record: Record, *names: str) -> int:
    """Microseconds since 1970 of a time, an ISO text, or milliseconds as pandas writes them."""
    value = record.get(*names)
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError as error:
            raise record.wrong(names[0], value, "an ISO time") from error
    if isinstance(value, datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=UTC)
        try:
            return round(moment.timestamp() * 1e6)
        except OverflowError as error:
            raise record.wrong(names[0], str(value), "a time after the year 1") from error
    return round(record.whole(*names) * 1000)
