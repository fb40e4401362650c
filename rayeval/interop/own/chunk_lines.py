"""A table of chunks in JSON Lines, read in parts that all have the same types."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.json as pajson

from rayeval import files
from rayeval.columns import combined
from rayeval.encoded import odd_line, refuse_wide
from rayeval.errors import DataError, Problem
from rayeval.interop.own.offsets import ENDS, LARGEST, span_faults
from rayeval.interop.whole import BOM
from rayeval.strict_json import KeyTwiceError, loads
from rayeval.tables import TEXT

BLOCK = 1 << 26
"""Bytes that are read at once."""
SAMPLE = 1000
"""Lines of which the first that names an id says whether ids are text or whole numbers."""
NAMES = ("chunk_id", "source_id", "revision_id")
FIELDS: dict[str, pa.DataType] = {
    **dict.fromkeys((*NAMES, "text"), TEXT),
    **dict.fromkeys(("start_char", "end_char", "tokens"), pa.float64()),
    "spans": pa.list_(pa.struct(dict.fromkeys(ENDS, pa.float64()))),
}
"""Others are not looked at. A text that looks like a time stays text."""
KINDS: dict[pa.DataType, tuple[type | tuple[type, ...], str]] = {
    TEXT: (str, "text"),
    pa.int64(): (int, "a whole number"),
    pa.float64(): ((int, float), "a number"),
    FIELDS["spans"]: (list, "a list of spans"),
}
SHOWN = 100
"""Lines that are named."""


def lines(path: str) -> Iterator[pa.Table]:
    """The file as tables of those of FIELDS that it has, ids all text or all whole numbers.

    Raises DataError for the first line that is no such chunk.
    """
    first = _sample(path)
    schema = {**FIELDS, **{name: _kind(first, name) for name in NAMES}}
    there = dict.fromkeys(key for row in first for key in row)
    options = pajson.ParseOptions(
        explicit_schema=pa.schema(list(schema.items())), unexpected_field_behavior="ignore"
    )
    for block in _blocks(path):
        try:
            table = pajson.read_json(io.BytesIO(block), parse_options=options)
            table.validate(full=True)  # which finds text that is not UTF-8
        except pa.ArrowInvalid as error:
            raise _wrong_lines(path, schema, str(error)) from error
        if any(span_faults(combined(table["spans"]))):
            raise _wrong_lines(path, schema, "spans are whole numbers")
        known = [n for n in schema if n in there or table[n].null_count < table.num_rows]
        check_complete(path, known, there)
        yield table.select(known)


def _sample(path: str) -> list[Mapping[str, Any]]:
    """The objects among the first lines; what is wrong with others is found by who reads all."""
    found: list[Mapping[str, Any]] = []
    for _, line in islice(_numbered(path), SAMPLE):
        try:
            value = loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def _kind(rows: list[Mapping[str, Any]], name: str) -> pa.DataType:
    value = next((row[name] for row in rows if row.get(name) is not None), None)
    return pa.int64() if isinstance(value, int) and not isinstance(value, bool) else TEXT


def _numbered(path: str) -> Iterator[tuple[int, bytes]]:
    """Lines that are not blank, from 1."""
    with files.reading(path) as stream:
        for number, line in enumerate(io.BufferedReader(stream), start=1):
            if number == 1:
                refuse_wide(path, line)
            if line.strip():
                yield number, line.removeprefix(BOM)


def _wrong_lines(path: str, schema: Mapping[str, pa.DataType], said: str) -> DataError:
    """The first lines that are no chunks of these types; without one, what Arrow says."""
    found = list(islice(_wrong(path, schema), SHOWN))
    return DataError(found or [Problem(path, None, None, "invalid_json", said)], foreign=True)


def _wrong(path: str, schema: Mapping[str, pa.DataType]) -> Iterator[Problem]:
    """What is wrong with every line that is no chunk of these types."""
    for number, line in _numbered(path):
        try:
            value = loads(line)
        except KeyTwiceError as twice:
            yield Problem(path, number, None, "field_twice", str(twice))
        except (ValueError, RecursionError) as wrong:
            kind, said = odd_line(line) or ("invalid_json", f"not JSON: {wrong}")
            yield Problem(path, number, None, kind, said)
        else:
            if unfit := _unfit(value, schema):
                named = value.get("chunk_id") if isinstance(value, dict) else None
                chunk = "" if named is None else f"chunk {str(named)[:60]!r}: "
                yield Problem(path, number, None, "wrong_type", chunk + unfit)


def _unfit(value: Any, schema: Mapping[str, pa.DataType]) -> str | None:
    if not isinstance(value, dict):
        return "expected an object"
    for name, kind in schema.items():
        wanted, words = KINDS[kind]
        found = value.get(name)
        if found is not None and (not isinstance(found, wanted) or isinstance(found, bool)):
            like = f"; all values of `{name}` must be of one kind" if name in NAMES else ""
            return f"`{name}` is {repr(found)[:60]}, expected {words}{like}"
    return next(_unfit_spans(value.get("spans") or ()), None)


def _unfit_spans(spans: Sequence[Any]) -> Iterator[str]:
    for place, span in enumerate(spans):
        if not isinstance(span, dict):
            yield f"`spans[{place}]` is {repr(span)[:60]}, expected start_char and end_char"
            continue
        for name in ENDS:
            end: Any = span.get(name)
            number = isinstance(end, int | float) and not isinstance(end, bool)
            if not number or not abs(end) < LARGEST or end != int(end):
                yield f"`spans[{place}].{name}` is {repr(end)[:60]}, expected a whole number"


def check_complete(path: str, known: Sequence[str], there: Iterable[str]) -> None:
    """Raises DataError unless the columns `known` say what a chunk is; `there` are all of them."""
    if "chunk_id" not in known or not {"source_id", "text"} & set(known):
        message = "a chunk has chunk_id, and source_id and where it lies, or its text"
        message += f"; the columns are {', '.join(there) or 'none'}"
        raise DataError([Problem(path, None, None, "missing_field", message)])


def _blocks(path: str) -> Iterator[bytes]:
    """The file in parts of whole lines."""
    rest, some = b"", False
    with files.reading(path) as stream:
        while data := stream.read(BLOCK):
            whole, _, rest = (rest + data).rpartition(b"\n")
            if whole.strip():
                some = True
                yield whole
    if rest.strip() or not some:
        yield rest
