"""Files with spans: OTLP, Phoenix's exports, OpenTelemetry's console."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rayeval.errors import Problem
from rayeval.interop.genai import openinference
from rayeval.interop.nesting import nested, object_of
from rayeval.interop.otlp import otlp_span, otlp_spans
from rayeval.interop.reading import records
from rayeval.interop.records import Record, RefusedError
from rayeval.interop.spans import Span, kind_of, micros, said_error


def read_spans(paths: Sequence[str], problems: list[Problem]) -> Iterator[Span]:
    """Spans of OTLP, of Phoenix and of OpenTelemetry's console; what is none is a problem."""
    kinds = (".jsonl", ".json", ".parquet", ".csv")
    for record in unwrapped(records(paths, problems, kinds=kinds), problems):
        try:
            batches = record.objects("resourceSpans", "resource_spans")
            if batches or "resourceSpans" in record.value:
                yield from otlp_spans(batches)
            elif record.get("startTimeUnixNano", "start_time_unix_nano") is not None:
                yield otlp_span(record)
            else:
                yield _row(record)
        except (RefusedError, RecursionError) as error:
            problems.append(record.problem(error))


def unwrapped(found: Iterator[Record], problems: list[Problem]) -> Iterator[Record]:
    """The records; of a service's reply (`{"data": […], …}`) those that it lists."""
    for record in found:
        if not isinstance(record.get("data"), list):
            yield record
            continue
        try:
            yield from record.objects("data")
        except RefusedError as error:
            problems.append(record.problem(error))


def _row(record: Record) -> Span:
    """A row of Phoenix's dataframe, or a span of its JSON or of OpenTelemetry's own."""
    tree = nested(record.value)
    given = tree.get("attributes")
    attributes = object_of(given, "attributes")
    if given is not None and not isinstance(given, str | Mapping):
        raise record.wrong("attributes", given, "an object")
    whole = openinference({**tree, **nested(attributes)})
    context = tree.get("context")
    ids = record.inner(context, "context") if isinstance(context, Mapping) else record
    status = record.inner(object_of(record.get("status"), "status"), "status")
    failed = "ERROR" in (record.get("status_code"), status.get("status_code"))
    said = record.text("status_message") or status.text("description")
    return Span(
        record.place,
        ids.id("trace_id"),
        ids.id("span_id"),
        record.name("parent_id"),
        record.words("name"),
        kind_of(whole, record.text("span_kind")),
        micros(record, "start_time"),
        micros(record, "end_time"),
        said_error(said, "status ERROR") if failed else None,
        whole,
    )
