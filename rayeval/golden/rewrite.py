"""A golden set's file with one row more, or one row changed; all else keeps its bytes."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rayeval.errors import ConfigError
from rayeval.golden import cells
from rayeval.golden.config import Format
from rayeval.golden.text import BOM

Row = Mapping[str, Any]
"""A question as users write it (golden/contract.py); null equals absent."""


def appended(data: bytes, kind: Format, row: Row) -> bytes:
    """The file `data` with `row` at its end; no data at all is a new file.

    Raises ConfigError if a Parquet file's columns are of types that can't hold the row.
    """
    if kind == "csv":
        return cells.appended(data, row)
    if kind == "parquet":
        old = pq.read_table(pa.BufferReader(data)) if data else pa.table({})
        return _parquet(old, old.num_rows, row, old.num_rows)
    end = _line_end(data)
    whole = data if not data or data.endswith(b"\n") else data + end
    return whole + _json_line(row) + end


def replaced(data: bytes, kind: Format, line: int, row: Row) -> bytes:
    """The file `data` with `row` in the place of the record at `line`.

    line: as `records` counts: from 1, by lines of text or by rows of Parquet.
    """
    if kind == "csv":
        return cells.replaced(data, line, row)
    if kind == "parquet":
        return _parquet(pq.read_table(pa.BufferReader(data)), line - 1, row, line)
    start = len(BOM) if data.startswith(BOM) else 0
    lines = list(io.BytesIO(data[start:]))
    old = lines[line - 1]
    lines[line - 1] = _json_line(row) + old[len(old.rstrip(b"\r\n")) :]
    return data[:start] + b"".join(lines)


def _json_line(row: Row) -> bytes:
    return json.dumps(row, ensure_ascii=False, allow_nan=False, default=_text).encode()


def _text(value: Any) -> str:
    """A date, which only Parquet gives as such."""
    return str(value.isoformat())


def _line_end(data: bytes) -> bytes:
    return b"\r\n" if data.split(b"\n", 1)[0].endswith(b"\r") else b"\n"


def _parquet(old: pa.Table, before: int, row: Row, after: int) -> bytes:
    """The first rows of a table, `row`, and the rows from `after` on, as a file.

    A column or field that only one side has is null on the other.
    """
    try:
        new = _typed(pa.Table.from_pylist([dict(row)]), old.schema)
        parts = [old.slice(0, before), new, old.slice(after)]
        whole = [part for part in parts if part.num_columns]
        table = pa.concat_tables(whole, promote_options="permissive")
    except (pa.ArrowTypeError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ConfigError(
            f"the Parquet file's columns can't hold the row: {error}. Write the golden set as "
            "JSON Lines, or with columns of the contract's types"
        ) from error
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


def _typed(new: pa.Table, schema: pa.Schema) -> pa.Table:
    """The row with plain columns of the types that the file has for them."""
    for number, name in enumerate(new.column_names):
        place = schema.get_field_index(name)
        if place >= 0 and not pa.types.is_nested(schema.field(place).type):
            typed = new[name].cast(schema.field(place).type)
            new = new.set_column(number, schema.field(place), typed)
    return new
