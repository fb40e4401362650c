"""Files of many documents: JSON Lines and Parquet."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rayeval import files
from rayeval.corpus import fields
from rayeval.corpus.fields import Findings, Row
from rayeval.encoded import CARRIAGE, bare_returns, not_utf8, wide
from rayeval.errors import Problem
from rayeval.strict_json import KeyTwiceError, loads
from rayeval.tables import TIME
from rayeval.twice import named_twice

_BATCH_ROWS = 1_024
Record = tuple[Row | None, list[Problem]]


def decoded(data: bytes, found: Findings, *, at: int = 0) -> str | None:
    """`data` as UTF-8, or None and a problem that names the byte of the file.

    at: how many bytes of the file stand before `data`.
    """
    if at == 0 and (said := wide(data)):
        found.line = 1
        found.add("not_utf8", said)
        return None
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        found.line = (found.line or 1) + data.count(b"\n", 0, error.start)
        found.add("not_utf8", not_utf8(data, error, at=at))
        return None


def from_json_lines(path: str) -> Iterator[Record]:
    """One document per line; empty lines are skipped, and a U+FEFF before the first."""
    at = 0
    with files.reading(path) as stream:
        for number, data in enumerate(io.BufferedReader(stream), start=1):
            found = Findings(path, number)
            text = decoded(data, found, at=at)
            if at == 0 and wide(data):  # every other line would be none either
                yield None, found.problems
                return
            at += len(data)
            if text is None:
                yield None, found.problems
            elif text := text.removeprefix("\ufeff" if number == 1 else "").strip():
                yield _from_line(text, found), found.problems


def _from_line(text: str, found: Findings) -> Row | None:
    try:
        raw = loads(text)
    except KeyTwiceError as error:
        found.add("field_twice", str(error))
        return None
    except (ValueError, RecursionError) as error:
        odd = CARRIAGE if bare_returns(text.encode()) else None
        found.add("invalid_json", odd or f"{error}; expected one JSON object per line")
        return None
    if not isinstance(raw, dict):
        found.add("wrong_type", f"found {json.dumps(raw)[:40]}, expected an object with text")
        return None
    for name in raw:
        if name not in fields.NAMES:
            found.add("unknown_field", fields.unknown(name))
    return fields.document(raw, found)


def from_parquet(path: str) -> Iterator[Record]:
    """One document per row; `line` is the row's number, from 1."""
    fs, inner = files.open_fs(path)
    try:
        with fs.open_input_file(inner) as stream:
            file = pq.ParquetFile(stream)
            found = Findings(path)
            readable = _check_columns(file.schema_arrow, found)
            yield None, found.problems
            if readable:
                yield from _from_batches(file, path)
    except (pa.ArrowException, OSError) as error:
        found = Findings(path)
        found.add("unreadable_parquet", f"cut off or damaged ({error}); write it again")
        yield None, found.problems


def _check_columns(schema: pa.Schema, found: Findings) -> bool:
    """Problems of the file as a whole, not one for each row; whether the rows can be read."""
    for name in dict.fromkeys(schema.names):
        if name not in fields.NAMES:
            found.add("unknown_field", fields.unknown(name))
    unusable = [("field_twice", said) for said in named_twice(schema)]
    for name in fields.NAMES:
        type_ = next((field.type for field in schema if field.name == name), None)
        if type_ is not None and not _fits(name, type_):
            unusable.append(("wrong_type", f"column {name} is {type_}, expected {_wanted(name)}"))
        elif name in ("source_id", "text") and type_ is None:
            unusable.append(("missing_field", f"there is no column {name}"))
    for kind, message in unusable:
        found.add(kind, message)
    return not unusable


def _fits(name: str, type_: pa.DataType) -> bool:
    if name == "access":
        is_list = pa.types.is_list(type_) or pa.types.is_large_list(type_)
        return bool(is_list and _is_text(type_.value_type)) or bool(pa.types.is_null(type_))
    is_time = pa.types.is_timestamp(type_) or pa.types.is_date(type_)
    return bool(name in fields.DATES and is_time) or _is_text(type_)


def _is_text(type_: pa.DataType) -> bool:
    if pa.types.is_dictionary(type_):
        type_ = type_.value_type
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
    return any(is_kind(type_) for is_kind in (*kinds, pa.types.is_null))


def _wanted(name: str) -> str:
    if name == "access":
        return "a list of text"
    return "a date, a timestamp or text" if name in fields.DATES else "text"


def _from_batches(file: pq.ParquetFile, path: str) -> Iterator[Record]:
    number = 0
    for batch in file.iter_batches(_BATCH_ROWS):
        for raw in _plain(batch):
            number += 1
            found = Findings(path, number)
            if isinstance(raw, dict):
                yield fields.document(raw, found), found.problems
            else:
                kind = "not_utf8" if isinstance(raw, UnicodeDecodeError) else "bad_date"
                found.add(kind, f"a value of this row can't be read: {raw}")
                yield None, found.problems


def _plain(batch: pa.RecordBatch) -> list[dict[str, Any] | Exception]:
    """The batch's rows, or what is wrong with one: text that isn't UTF-8, a year past 9999."""
    columns = [
        column.cast(TIME, safe=False) if pa.types.is_timestamp(column.type) else column
        for column in batch.columns
    ]
    try:
        return list(pa.RecordBatch.from_arrays(columns, names=batch.schema.names).to_pylist())
    except (ValueError, OverflowError) as error:
        if len(batch) == 1:
            return [error]
        return [row for i in range(len(batch)) for row in _plain(batch.slice(i, 1))]
