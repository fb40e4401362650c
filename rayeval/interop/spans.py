"""Spans of tracing tools: what they share, whatever file they came in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rayeval.errors import Problem
from rayeval.interop.reading import records
from rayeval.interop.records import Record, RefusedError
from rayeval.strict_json import KeyTwiceError, loads


@dataclass(frozen=True)
class Span:
    """One span. `attributes` are nested: `retrieval.documents.0.document.id` is a path in them."""

    record: Record
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
        value: Any = self.attributes
        for part in path.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        return value

    def list_at(self, path: str) -> list[Record]:
        """The objects of a list; empty where there is none."""
        value = self.at(path)
        if value is None:
            return []
        if not isinstance(value, list):
            raise self.record.wrong(path, value, "a list")
        return [self.record.inner(item, f"{path}[{i}]") for i, item in enumerate(value)]


def read_spans(paths: Sequence[str], problems: list[Problem]) -> Iterator[Span]:
    """Spans of OTLP JSON, and of Phoenix's exports; what is no span is a problem."""
    for record in records(paths, problems, kinds=(".jsonl", ".json", ".parquet")):
        try:
            batches = record.objects("resourceSpans", "resource_spans")
            if batches or "resourceSpans" in record.value:
                yield from _otlp(batches)
            else:
                yield _phoenix(record)
        except RefusedError as error:
            problems.append(record.problem(error))


def _otlp(batches: Sequence[Record]) -> Iterator[Span]:
    for batch in batches:
        for scope in batch.objects("scopeSpans", "scope_spans"):
            for span in scope.objects("spans"):
                attributes = nested(_values(span.objects("attributes")))
                status = span.get("status") or {}
                failed = status.get("code") in (2, "STATUS_CODE_ERROR")
                yield Span(
                    span,
                    span.id("traceId", "trace_id"),
                    span.id("spanId", "span_id"),
                    span.name("parentSpanId", "parent_span_id"),
                    span.words("name"),
                    kind_of(attributes, None),
                    _nano(span, "startTimeUnixNano", "start_time_unix_nano"),
                    _nano(span, "endTimeUnixNano", "end_time_unix_nano"),
                    (status.get("message") or "status ERROR") if failed else None,
                    attributes,
                )


def _nano(span: Record, *names: str) -> int:
    """Microseconds; OTLP writes nanoseconds as decimal text."""
    value = span.id(*names)
    if not value.isdecimal():
        raise span.wrong(names[0], value, "nanoseconds since 1970")
    return int(value) // 1000


def _values(pairs: Sequence[Record]) -> dict[str, Any]:
    return {pair.id("key"): _value(pair.get("value")) for pair in pairs}


def _value(value: Any) -> Any:
    """An OTLP AnyValue as what it holds."""
    if not isinstance(value, Mapping) or not value:
        return None
    kind, inner = next(iter(value.items()))
    match kind:
        case "intValue":
            return int(inner)
        case "arrayValue":
            return [_value(item) for item in inner.get("values", [])]
        case "kvlistValue":
            return {item["key"]: _value(item.get("value")) for item in inner.get("values", [])}
        case _:
            return inner


def _phoenix(record: Record) -> Span:
    """A row of Phoenix's dataframe, or a span of its JSON."""
    tree = nested(record.value)
    given = tree.get("attributes")
    attributes = _parsed(given, "attributes") if isinstance(given, str) else given
    if attributes is not None and not isinstance(attributes, Mapping):
        raise record.wrong("attributes", attributes, "an object")
    whole: Mapping[str, Any] = {**tree, **nested(attributes or {})}
    context = tree.get("context")
    ids = record.inner(context, "context") if isinstance(context, Mapping) else record
    failed = record.get("status_code") == "ERROR"
    return Span(
        record,
        ids.id("trace_id"),
        ids.id("span_id"),
        record.name("parent_id"),
        record.words("name"),
        kind_of(whole, record.text("span_kind")),
        micros(record, "start_time"),
        micros(record, "end_time"),
        (record.text("status_message") or "status ERROR") if failed else None,
        whole,
    )


def kind_of(attributes: Mapping[str, Any], column: str | None) -> str:
    """The span's kind, by its attribute or its column; nothing where neither says."""
    kind: Any = attributes
    for part in ("openinference", "span", "kind"):
        kind = kind.get(part) if isinstance(kind, Mapping) else None
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
        return round(moment.timestamp() * 1e6)
    return round(record.whole(*names) * 1000)


def nested(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted keys as a tree; a level whose keys are all numbers becomes a list."""
    tree: dict[str, Any] = {}
    for key, value in flat.items():
        *above, last = str(key).split(".")
        level = tree
        for part in above:
            level = level.setdefault(part, {})
            if not isinstance(level, dict):
                raise RefusedError("field_twice", f"`{key}` is within `{part}`, which is a value")
        inner = _tree(value)
        if isinstance(level.get(last), dict) and isinstance(inner, dict):
            level[last].update(inner)
        elif level.get(last) is None:
            level[last] = inner
    return {key: _lists(value) for key, value in tree.items()}


def _tree(value: Any) -> Any:
    if isinstance(value, Mapping):
        return nested(value)
    return [_tree(item) for item in value] if isinstance(value, list) else value


def _lists(value: Any) -> Any:
    if isinstance(value, dict):
        inner = {key: _lists(item) for key, item in value.items()}
        if inner and all(key.isdecimal() for key in inner):
            return [inner[key] for key in sorted(inner, key=int)]
        return inner
    return [_lists(item) for item in value] if isinstance(value, list) else value


def _parsed(text: str, field: str) -> Any:
    try:
        return loads(text)
    except KeyTwiceError as error:
        raise RefusedError("field_twice", f"`{field}`: {error}") from error
    except ValueError as error:
        raise RefusedError("invalid_json", f"`{field}` is not JSON: {error}") from error


def object_of(value: Any, field: str) -> Mapping[str, Any]:
    """An object, or one written as JSON text; empty for anything else."""
    found = _parsed(value, field) if isinstance(value, str) else value
    return found if isinstance(found, Mapping) else {}
