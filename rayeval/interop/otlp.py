"""OTLP's JSON: resources, scopes and spans, each attribute's value with its type."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rayeval.interop.genai import openinference
from rayeval.interop.nesting import nested
from rayeval.interop.records import Record
from rayeval.interop.spans import Span, kind_of, said_error


def otlp_spans(batches: Sequence[Record]) -> Iterator[Span]:
    """Every span of an export's `resourceSpans`."""
    for batch in batches:
        for scope in batch.objects("scopeSpans", "scope_spans"):
            yield from map(otlp_span, scope.objects("spans"))


def otlp_span(span: Record) -> Span:
    """One span; names in camel or snake case, ids in hexadecimal or base 64."""
    attributes = openinference(nested(_values(span.objects("attributes"))))
    status = span.get("status") or {}
    failed = status.get("code") in (2, "STATUS_CODE_ERROR")
    return Span(
        span.place,
        span.id("traceId", "trace_id"),
        span.id("spanId", "span_id"),
        span.name("parentSpanId", "parent_span_id"),
        span.words("name"),
        kind_of(attributes, None),
        _nano(span, "startTimeUnixNano", "start_time_unix_nano"),
        _nano(span, "endTimeUnixNano", "end_time_unix_nano"),
        said_error(status.get("message"), "status ERROR") if failed else None,
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
    """An AnyValue as what it holds; some writers list every type, all but one of them null."""
    held = value.items() if isinstance(value, Mapping) else ()
    kind: str
    inner: Any
    kind, inner = next(((k, v) for k, v in held if v is not None), ("", None))
    match re.sub("_(v)", lambda found: found[1].upper(), kind):
        case "intValue":
            return int(inner)
        case "arrayValue":
            return [_value(item) for item in inner.get("values") or []]
        case "kvlistValue":
            return {item["key"]: _value(item.get("value")) for item in inner.get("values") or []}
        case _:
            return inner
