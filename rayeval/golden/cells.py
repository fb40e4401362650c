"""CSV written: the inverse of spreadsheet.py, in a file that else keeps its bytes."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from rayeval.golden.contract import Location
from rayeval.golden.spreadsheet import JSON_COLUMNS, LIST_COLUMNS
from rayeval.golden.text import BOM

_SPECIAL = re.compile(r'[",\r\n]|^\s|\s$')
OWN = tuple(Location.model_fields)
"""Columns of a row's one piece of evidence."""


def appended(data: bytes, row: Mapping[str, Any]) -> bytes:
    """The file with `row` at its end; new columns come after those that are there."""
    mark, text, end = _read(data)
    if text and not text.endswith(("\n", "\r")):
        text += end
    return mark + _put(text, row, None, end).encode()


def replaced(data: bytes, line: int, row: Mapping[str, Any]) -> bytes:
    """The file with `row` in the place of the record that begins at `line`."""
    mark, text, end = _read(data)
    return mark + _put(text, row, line, end).encode()


def _read(data: bytes) -> tuple[bytes, str, str]:
    """The byte order mark, the text, and what ends its lines."""
    mark = BOM if data.startswith(BOM) else b""
    text = data[len(mark) :].decode()
    return mark, text, "\r\n" if text.partition("\n")[0].endswith("\r") else "\n"


def _put(text: str, row: Mapping[str, Any], at: int | None, end: str) -> str:
    """The file's text with `row` at the line `at`, or at the end."""
    header, records = _records(text)
    row = row if at is not None else _flat(row, header)
    wide = header + [name for name in row if row[name] is not None and name not in header]
    new = [_cell(name, row.get(name)) for name in wide]
    if wide != header:
        kept = [new if first == at else _padded(cells, wide) for first, _, cells in records]
        return _written([wide, *kept, *([new] if at is None else [])], end)
    if at is None:
        return text + _written([new], end)
    lines = list(io.StringIO(text, newline=""))
    last = next(last for first, last, _ in records if first == at)
    ended = end if lines[last - 1].endswith(("\n", "\r")) else ""
    return "".join([*lines[: at - 1], _written([new], ended), *lines[last:]])


def _records(text: str) -> tuple[list[str], list[tuple[int, int, list[str]]]]:
    """The header, and (first line, last line, cells) of every record below it."""
    csv.field_size_limit(max(csv.field_size_limit(), len(text)))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] = []
    records: list[tuple[int, int, list[str]]] = []
    before = 0
    for cells in reader:
        if cells and not header:
            header = [name.strip() for name in cells]
        elif cells:
            records.append((before + 1, reader.line_num, cells))
        before = reader.line_num
    return header, records


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


def _written(records: Sequence[Sequence[str]], end: str) -> str:
    """Python's own writer leaves a lone carriage return unquoted, which then ends a record."""
    return "".join(",".join(map(_quoted, cells)) + end for cells in records)


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
