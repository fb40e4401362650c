"""CSV written: the inverse of spreadsheet.py, in a file that else keeps its bytes."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rayeval.golden.contract import Location
from rayeval.golden.problems import Report
from rayeval.golden.spreadsheet import JSON_COLUMNS, LIST_COLUMNS, csv_records
from rayeval.golden.text import BOM

_SPECIAL = re.compile(r'[",\r\n]|^\s|\s$')
OWN = tuple(Location.model_fields)
"""Columns of a row's one piece of evidence."""


@dataclass(frozen=True)
class _Record:
    """Cells that stand on the lines from `first` to `last`."""

    first: int
    last: int
    cells: list[str]


def appended(data: bytes, row: Mapping[str, Any]) -> bytes:
    """The file with `row` at its end; new columns come after those that are there."""
    mark, text, end = _read(data)
    if text and not text.endswith(("\n", "\r")):
        text += end
    records = _records(text)
    header = _names(records)
    row = _flat(row, header)
    wide = _widened(header, row)
    new = _written([_cell(name, row.get(name)) for name in wide], end)
    if not records:
        text = _written(wide, end)
    return mark + (_changed(text, records, wide, {}, end) + new).encode()


def rewritten(data: bytes, edit: Callable[[int, dict[str, Any]], Any]) -> bytes:
    """The file after `edit` (see rewrite.py) of every row; cells that stay are as they were."""
    mark, text, end = _read(data)
    records = _records(text)
    was = dict(csv_records(data, Report("")))
    edits = {n: new for n, row in was.items() if (new := edit(n, dict(row))) is not None}
    wide = _names(records)
    for new in edits.values():
        wide = _widened(wide, new)
    cells = {
        record.first: [
            cell if new.get(name) == was[record.first].get(name) else _cell(name, new.get(name))
            for name, cell in zip(wide, _padded(record.cells, wide), strict=True)
        ]
        for record in records
        if (new := edits.get(record.first)) is not None
    }
    return mark + _changed(text, records, wide, cells, end).encode()


def _changed(
    text: str,
    records: Sequence[_Record],
    wide: list[str],
    cells: Mapping[int, list[str]],
    end: str,
) -> str:
    """The text with other cells in some records, by their first line, and the columns `wide`."""
    lines, parts, at = list(io.StringIO(text, newline="")), list[str](), 0
    for number, record in enumerate(records):
        parts += lines[at : record.first - 1]
        at = record.last
        new = cells.get(record.first, _padded(record.cells, wide) if number else wide)
        same = len(record.cells) == len(wide) and record.first not in cells
        ended = end if lines[at - 1].endswith(("\n", "\r")) else ""
        parts += lines[record.first - 1 : at] if same else [_written(new, ended)]
    return "".join([*parts, *lines[at:]])


def _read(data: bytes) -> tuple[bytes, str, str]:
    """The byte order mark, the text, and what ends its lines."""
    mark = BOM if data.startswith(BOM) else b""
    text = data[len(mark) :].decode()
    return mark, text, "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"


def _records(text: str) -> list[_Record]:
    """The header, and every record below it."""
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    records: list[_Record] = []
    before = 0
    for cells in reader:
        if cells:
            records.append(_Record(before + 1, reader.line_num, cells))
        before = reader.line_num
    return records


def _names(records: Sequence[_Record]) -> list[str]:
    return [name.strip() for name in records[0].cells] if records else []


def _widened(header: list[str], row: Mapping[str, Any]) -> list[str]:
    return header + [name for name in row if row[name] is not None and name not in header]


def _flat(row: Mapping[str, Any], header: Sequence[str]) -> Mapping[str, Any]:
    """A new row in the words of this file: one piece of evidence in the row's own columns, unless
    there is a column for evidence; an answer under the name that the file has for it."""
    if "answer" in header and "reference_answer" not in header and "reference_answer" in row:
        names = {"reference_answer": "answer"}
        row = {names.get(name, name): value for name, value in row.items()}
    items = row.get("evidence") or []
    if "evidence" in header or len(items) != 1 or not items[0].keys() <= set(OWN):
        return row
    return {**{name: value for name, value in row.items() if name != "evidence"}, **items[0]}


def _padded(cells: list[str], wide: Sequence[str]) -> list[str]:
    return cells + [""] * (len(wide) - len(cells))


def _written(cells: Sequence[str], end: str) -> str:
    """Python's own writer leaves a lone carriage return unquoted, which then ends a record."""
    return ",".join(map(_quoted, cells)) + end


def _quoted(cell: str) -> str:
    return '"' + cell.replace('"', '""') + '"' if _SPECIAL.search(cell) else cell


def _cell(name: str, value: Any) -> str:
    """The cell that reads as `value`."""
    if value is None:
        return ""
    if name in LIST_COLUMNS:
        plain = all(item and item == item.strip() and ";" not in item for item in value)
        text = ";".join(value)
        return text if plain and not text.startswith("[") else _json(value)
    if name in JSON_COLUMNS:
        return _json(value)
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
