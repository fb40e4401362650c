"""CSV records: cells become the values that JSON would hold."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import Any

from rayeval.golden.contract import Row
from rayeval.golden.ids import id_of
from rayeval.golden.problems import FaultError, Record, Report, nearest
from rayeval.golden.text import BOM, LONE, decode, parse_json
from rayeval.words import plural

FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
FLAG_COLUMNS = frozenset({"answerable", "validated"})
NUMBER_COLUMNS = frozenset({"start_char", "end_char", "page", "relevance"})
LIST_COLUMNS = frozenset({"slices", "required_aspects", "principals"})
JSON_COLUMNS = frozenset({"evidence", "evidence_groups", "history"})


def csv_records(data: bytes, report: Report) -> Iterator[tuple[int, Any]]:
    """(line, value) of every record after the header that can be read.

    line: of the record's first line; quoted cells may hold more.
    """
    text, faults = _text(data)
    csv.field_size_limit(max(csv.field_size_limit(), len(data)))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    header: list[str] = []
    while True:
        record = report.at(reader.line_num + 1)
        try:
            cells = next(reader, None)
        except csv.Error as error:
            record.problem("invalid_csv", f"{error}; quote the cell and double the quotes in it")
            continue
        record.question_id = id_of(dict(zip(header, cells or (), strict=False)))
        _say(faults, record, None if cells is None else reader.line_num)
        if cells is None:
            return
        if cells and not header:
            header = [name.strip() for name in cells]
            if not known_columns(header, record):
                _say(faults, record, None)
                return
        elif cells and not any(map(LONE.search, cells)):
            yield from _values(header, cells, record)


def known_columns(header: list[str], record: Record) -> bool:
    """Says which columns are unknown or there twice; False if there is no `question`."""
    if len(header) == 1 and (apart := re.search("[;\t]", header[0])):
        message = f"columns are apart by {apart[0]!r}, expected ','; save the file with commas"
        record.problem("invalid_csv", message)
        return False
    for name in dict.fromkeys(header):
        if name not in Row.model_fields:
            hint = nearest(name, Row.model_fields) or "; drop it"
            record.problem("unknown_field", f"column {name!r} is not part of the contract{hint}")
        elif header.count(name) > 1:
            record.problem("field_twice", f"column {name!r} is there twice; keep one")
    if "question" not in header:
        record.problem("missing_field", f"no column `question` among {', '.join(header)}")
    return "question" in header


def _say(faults: dict[int, FaultError], record: Record, last: int | None) -> None:
    """Takes the faults up to line `last` (None: all), as problems of the record's question."""
    for line in sorted(line for line in faults if last is None or line <= last):
        fault = faults.pop(line)
        record.report.at(line, record.question_id).problem(fault.kind, str(fault))


def _text(data: bytes) -> tuple[str, dict[int, FaultError]]:
    """The file's text, in which wrong bytes are lone surrogates, and the lines that hold some."""
    offset = len(BOM) if data.startswith(BOM) else 0
    data = data[offset:]
    faults: dict[int, FaultError] = {}
    try:
        return data.decode(), faults
    except UnicodeDecodeError:
        for number, line in enumerate(io.BytesIO(data), start=1):
            try:
                decode(line, offset)
            except FaultError as error:
                faults[number] = error
            offset += len(line)
        return data.decode(errors="surrogateescape"), faults


def _values(header: list[str], cells: list[str], record: Record) -> Iterator[tuple[int, Any]]:
    """The record, unless a cell of it can't be read."""
    if len(cells) != len(header):
        record.problem(
            "invalid_csv", f"{plural(len(cells), 'cell')} under {plural(len(header), 'column')}"
        )
        return
    value: dict[str, Any] = {}
    readable = True
    for name, cell in zip(header, cells, strict=True):
        if cell and name in Row.model_fields:
            try:
                value[name] = _value(name, cell)
            except FaultError as error:
                record.problem(error.kind, f"column `{name}`: {error}")
                readable = False
    if value and readable and record.line is not None:
        yield record.line, value


def _value(name: str, cell: str) -> Any:
    """What the cell says; text where it isn't what its column holds."""
    word = cell.strip()
    if name in FLAG_COLUMNS:
        return FLAGS.get(word.lower(), cell)
    if name in NUMBER_COLUMNS:
        return float(word) if re.fullmatch(r"-?\d+(\.\d*)?", word) else cell
    if name in JSON_COLUMNS or (name in LIST_COLUMNS and word.startswith("[")):
        return parse_json(word)
    if name in LIST_COLUMNS:
        return [part.strip() for part in word.split(";") if part.strip()]
    return cell
