"""OTLP's JSON: resources, scopes and spans, each attribute's value with its type."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from rayeval.interop.genai import openinference
from rayeval.interop.nesting import nested
from rayeval.interop.records import Record
from rayeval.interop.spans import Span, kind_of, said_error

_INT = re.compile("[+-]?[0-9]{1,19}")
_NANO = re.compile("[0-9]{1,19}")


def otlp_spans(batches: Sequence[Record]) -> Iterator[Span]:
    """Every span of an export's `resourceSpans`."""
    for batch in batches:
        for scope in batch.objects("scopeSpans", "scope_spans"):
            yield from map(otlp_span, scope.objects("spans"))


def otlp_span(span: Record) -> Span:
    """One span; names in camel or snake case, ids in hexadecimal or base 64."""
    attributes = openinference(nested(_values(span.objects("attributes"))))
    status = span.inner({} if (told := span.get("status")) is None else told, "status")
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
        said_error(status.text("message"), "status ERROR") if failed else None,
        attributes,
    )


def _nano(span: Record, *names: str) -> int:
    """Microseconds; OTLP writes nanoseconds as decimal text."""
    value = span.id(*names)
    if not _NANO.fullmatch(value):
        raise span.wrong(names[0], value, "nanoseconds since 1970")
    return int(value) // 1000


def _values(pairs: Sequence[Record]) -> dict[str, Any]:
    return {pair.id("key"): _value(pair, "value") for pair in pairs}


def _value(holder: Record, field: str) -> Any:
    """An AnyValue as what it holds; some writers list every type, all but one of them null."""
    value = holder.get(field)
    held = holder.inner({} if value is None else value, f"{holder.path}{field}")
    name, inner = next(((k, v) for k, v in held.value.items() if v is not None), ("", None))
    match re.sub("_(v)", lambda found: found[1].upper(), name):
        case "intValue":
            return _int(held, name)
        case "arrayValue":
            values = held.inner(inner, f"{held.path}{name}")
            items = (values.inner({"": v}, f"{values.path}values") for v in values.items("values"))
            return [_value(item, "") for item in items]
        case "kvlistValue":
            return _values(held.inner(inner, f"{held.path}{name}").objects("values"))
        case _:
            return inner


def _int(held: Record, name: str) -> int:
    """64 bits, which JSON holds as decimal text."""
    given = held.get(name)
    if isinstance(given, str) and _INT.fullmatch(given):
        return int(given)
    return held.whole(name)
