"""Which types the columns of a trace in Parquet may have."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa

from rayeval.errors import DataError, Problem
from rayeval.interop.own.offsets import ENDS, as_spans
from rayeval.tables import SPANS

Check = Callable[[pa.DataType], bool]


def _text(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _text(kind.value_type)
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(of(kind) for of in kinds)


def _whole(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind))


def _number(kind: pa.DataType) -> bool:
    return bool(_whole(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _name(kind: pa.DataType) -> bool:
    return _text(kind) or _whole(kind)


def _list(of: Check) -> Check:
    def check(kind: pa.DataType) -> bool:
        lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
        return any(a(kind) for a in lists) and (
            of(kind.value_type) or pa.types.is_null(kind.value_type)
        )

    return check


def _span(kind: pa.DataType) -> bool:
    ends = ("start_char", "end_char")
    return bool(
        pa.types.is_struct(kind)
        and all(name in kind.names and _number(kind.field(name).type) for name in ends)
    )


NAME, TEXT, NUMBER = ("text, or whole numbers", _name), ("text", _text), ("numbers", _number)
FLAG = ("true or false", pa.types.is_boolean)
EXPECTED: dict[str, tuple[str, Check]] = {
    **dict.fromkeys(("question_id", "stage", "chunk_id", "source_id", "revision_id"), NAME),
    **dict.fromkeys(("text", "error", "answer"), TEXT),
    **dict.fromkeys(("score", "latency_ms", "start_char", "end_char"), NUMBER),
    **dict.fromkeys(("rank", "repeat", "tokens"), NUMBER),
    "abstained": FLAG,
    "citations": ("lists of text", _list(_name)),
    "spans": ("lists of start_char and end_char", _list(_span)),
}


def typed(values: pa.Array, kind: pa.DataType) -> pa.Array:
    """The same in a type of FOREIGN; numbers too large to be exact are as near as floats come."""
    if values.type == kind:
        return values
    if kind == SPANS:
        return as_spans(values)
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    return values.cast(kind, safe=not pa.types.is_floating(kind))


def as_it_is(schema: pa.Schema) -> bool:
    """Whether every value can be taken as FOREIGN has it, without a look at each."""
    item = getattr(schema.field("hits").type, "value_type", None)
    fields = {field.name: field.type for field in schema if field.name == "latency_ms"}
    if item is not None and pa.types.is_struct(item):
        fields |= {field.name: field.type for field in item.fields}
    if set(ENDS) & fields.keys() or not _plain_spans(fields.get("spans", SPANS)):
        return False  # offsets that are no spans yet
    if pa.string_view() in fields.values():  # which Arrow can't pick rows of
        return False
    numbers = [fields[name] for name in ("score", "latency_ms") if name in fields]
    return all(map(_exact, numbers))


def _exact(kind: pa.DataType) -> bool:
    """Whether a float has every value of the type."""
    small = pa.types.is_integer(kind) and kind.bit_width <= 32
    return bool(pa.types.is_floating(kind) or pa.types.is_null(kind) or small)


def _plain_spans(kind: pa.DataType) -> bool:
    if pa.types.is_null(kind) or kind == SPANS:
        return True
    item = kind.value_type
    signed = pa.types.is_struct(item) and item.names == list(ENDS)
    return signed and all(pa.types.is_signed_integer(field.type) for field in item.fields)


def check_types(path: str, schema: pa.Schema) -> None:
    """Raises DataError for every column, and field of hits, whose values can't be what it says."""
    found = [
        Problem(path, None, None, "wrong_type", f"`{name}` is {kind}, expected {expected}")
        for name, kind, expected in _unfit(schema)
    ]
    if found:
        raise DataError(found, foreign=True)


def _unfit(schema: pa.Schema) -> Iterator[tuple[str, pa.DataType, str]]:
    fields = [(field.name, field.name, field.type) for field in schema]
    for field in schema:
        item = getattr(field.type, "value_type", None)
        if field.name == "hits" and item is not None and pa.types.is_struct(item):
            fields += [(f"hits[].{inner.name}", inner.name, inner.type) for inner in item.fields]
    for at, name, kind in fields:
        if name in EXPECTED and not pa.types.is_null(kind) and not EXPECTED[name][1](kind):
            yield at, kind, EXPECTED[name][0]
