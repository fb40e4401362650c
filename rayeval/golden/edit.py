"""A golden set's file with some of its rows changed: the same format, every other row as it was."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rayeval.golden.config import Format
from rayeval.golden.problems import Report
from rayeval.golden.spreadsheet import csv_records
from rayeval.golden.text import BOM

Row = dict[str, Any]
Edit = Callable[[int, Row], Row | None]
"""(line, the row's values) → the row as it shall be; None where nothing changes."""


def rewritten(data: bytes, kind: Format, edit: Edit) -> bytes:
    """The bytes of a golden set without problems, after `edit` of every row.

    JSON Lines and CSV keep the bytes of rows that stay, their line ends and U+FEFF; new columns of
    CSV and Parquet come last.
    """
    ways = {"jsonl": _json_lines, "csv": _csv, "parquet": _parquet}
    return ways[kind](data, edit)


def _json_lines(data: bytes, edit: Edit) -> bytes:
    start = len(BOM) if data.startswith(BOM) else 0
    parts = [data[:start]]
    for number, line in enumerate(io.BytesIO(data[start:]), start=1):
        row = edit(number, json.loads(line)) if line.strip() else None
        if row is None:
            parts.append(line)
            continue
        end = line[len(line.rstrip()) :]
        parts += [json.dumps(row, ensure_ascii=False).encode(), end]
    return b"".join(parts)


def _csv(data: bytes, edit: Edit) -> bytes:
    text = data.decode()
    body = text.removeprefix("\ufeff")
    lines = io.StringIO(body, newline="").readlines()
    rows = dict(csv_records(data, Report("")))
    edits = {n: new for n, row in rows.items() if (new := edit(n, dict(row))) is not None}
    out = io.StringIO(newline="")
    out.write(text[: len(text) - len(body)])
    writer = csv.writer(out, lineterminator="\r\n" if lines[0].endswith("\r\n") else "\n")
    header: list[str] = []
    added: list[str] = []
    for number, raw, cells in _records(lines):
        if cells and not header:
            header = [name.strip() for name in cells]
            added = sorted({name for row in edits.values() for name in row} - {*header})
            changed = [*cells, *added]
        else:
            changed = _cells(header, added, cells, rows.get(number, {}), edits.get(number))
        out.writelines(raw) if changed == cells else writer.writerow(changed)
    return out.getvalue().encode()


def _records(lines: list[str]) -> Iterator[tuple[int, list[str], list[str]]]:
    """(number of its first line, its lines as they are, cells) of every record."""
    reader = csv.reader(lines, strict=True)
    first = 0
    for cells in reader:
        yield first + 1, lines[first : reader.line_num], cells
        first = reader.line_num


def _cells(
    header: list[str], added: list[str], cells: list[str], old: Row, new: Row | None
) -> list[str]:
    """A record's cells, those that the edit leaves as they were written."""
    if not cells:
        return cells
    row = old if new is None else new
    own = zip(header, cells, strict=True)
    kept = [cell if row.get(n) == old.get(n) else _cell(row.get(n)) for n, cell in own]
    return [*kept, *(_cell(row.get(name)) for name in added)]


def _cell(value: Any) -> str:
    """A JSON value as its cell."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return str(value)


def _parquet(data: bytes, edit: Edit) -> bytes:
    table = pq.read_table(pa.BufferReader(data))
    rows = table.to_pylist()
    edits = {n: new for n, row in enumerate(rows) if (new := edit(n + 1, dict(row))) is not None}
    names = {name for n, row in edits.items() for name in row if row[name] != rows[n].get(name)}
    for name in sorted(names):
        values = [edits.get(n, row).get(name) for n, row in enumerate(rows)]
        table = _with(table, name, values)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


def _with(table: pa.Table, name: str, values: list[Any]) -> pa.Table:
    """The column with other values, of its own type unless that has no room for them."""
    at = table.schema.get_field_index(name)
    if at < 0:
        return table.append_column(name, pa.array(values))
    column = pa.array(values, table.schema.field(at).type)
    if column.to_pylist() != values:
        column = pa.array(values)
    return table.set_column(at, name, column)
