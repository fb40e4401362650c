"""A golden set's file with one row more, or with some changed; all else keeps its bytes."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rayeval.errors import ConfigError
from rayeval.golden import cells
from rayeval.golden.config import Format
from rayeval.golden.text import BOM

Row = dict[str, Any]
"""A question as users write it (golden/contract.py); null equals absent."""
Edit = Callable[[int, Row], Mapping[str, Any] | None]
"""(line, row) → the row as it shall be; None where nothing changes. Lines are counted as `records`
does: from 1, by lines of text or by rows of Parquet."""


def appended(data: bytes, kind: Format, row: Mapping[str, Any]) -> bytes:
    """The file `data` with `row` at its end; no data at all is a new file.

    Raises ConfigError if a Parquet file's columns are of types that can't hold the row.
    """
    if kind == "csv":
        return cells.appended(data, row)
    if kind == "parquet":
        return _parquet_appended(data, row)
    end = b"\r\n" if data.split(b"\n", 1)[0].endswith(b"\r") else b"\n"
    whole = data if not data or data.endswith(b"\n") else data + end
    return whole + _json_line(row) + end


def replaced(data: bytes, kind: Format, rows: Mapping[int, Mapping[str, Any]]) -> bytes:
    """The file `data` with other rows in the places of the records at these lines."""
    return rewritten(data, kind, lambda at, _: rows.get(at))


def rewritten(data: bytes, kind: Format, edit: Edit) -> bytes:
    """The bytes of a golden set without problems, after `edit` of every row.

    JSON Lines and CSV keep the bytes of rows that stay, their line ends and U+FEFF; new columns of
    CSV and Parquet come last.
    Raises ConfigError if a Parquet file's columns are of types that can't hold a row.
    """
    ways = {"jsonl": _json_lines, "csv": cells.rewritten, "parquet": _parquet}
    return ways[kind](data, edit)


def _json_lines(data: bytes, edit: Edit) -> bytes:
    start = len(BOM) if data.startswith(BOM) else 0
    parts = [data[:start]]
    for number, line in enumerate(io.BytesIO(data[start:]), start=1):
        row = edit(number, json.loads(line)) if line.strip() else None
        end = line[len(line.rstrip(b"\r\n")) :]
        parts.append(line if row is None else _json_line(row) + end)
    return b"".join(parts)


def _json_line(row: Mapping[str, Any]) -> bytes:
    return json.dumps(row, ensure_ascii=False, allow_nan=False, default=_text).encode()


def _text(value: Any) -> str:
    """A date, which only Parquet gives as such."""
    return str(value.isoformat())


def _parquet(data: bytes, edit: Edit) -> bytes:
    table = pq.read_table(pa.BufferReader(data))
    rows = table.to_pylist()
    edits = {n: new for n, row in enumerate(rows) if (new := edit(n + 1, dict(row))) is not None}
    names = dict.fromkeys(
        name
        for n, row in edits.items()
        for name in {**rows[n], **row}
        if row.get(name) != rows[n].get(name)
    )
    try:
        for name in names:
            values = [edits.get(n, row).get(name) for n, row in enumerate(rows)]
            table = _with(table, name, values)
    except (pa.ArrowTypeError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise _full(error) from error
    return _written(table)


def _with(table: pa.Table, name: str, values: list[Any]) -> pa.Table:
    """The column with other values, of its own type unless that has no room for them."""
    at = table.schema.get_field_index(name)
    if at < 0:
        return table.append_column(name, pa.array(values))
    try:
        column = pa.array(values, table.schema.field(at).type)
    except (pa.ArrowTypeError, pa.ArrowInvalid):
        column = pa.array(values)
    if column.to_pylist() != values:
        column = pa.array(values)
    return table.set_column(at, name, column)


def _parquet_appended(data: bytes, row: Mapping[str, Any]) -> bytes:
    """A column or field that only one side has is null on the other."""
    old = pq.read_table(pa.BufferReader(data)) if data else pa.table({})
    try:
        new = _typed(pa.Table.from_pylist([dict(row)]), old.schema)
        whole = [part for part in (old, new) if part.num_columns]
        return _written(pa.concat_tables(whole, promote_options="permissive"))
    except (pa.ArrowTypeError, pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise _full(error) from error


def _typed(new: pa.Table, schema: pa.Schema) -> pa.Table:
    """The row with plain columns of the types that the file has for them."""
    for number, name in enumerate(new.column_names):
        place = schema.get_field_index(name)
        if place >= 0 and not pa.types.is_nested(schema.field(place).type):
            typed = new[name].cast(schema.field(place).type)
            new = new.set_column(number, schema.field(place), typed)
    return new


def _written(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


def _full(error: pa.ArrowException) -> ConfigError:
    return ConfigError(
        f"the Parquet file's columns can't hold the row: {error}. Write the golden set as "
        "JSON Lines, or with columns of the contract's types"
    )
