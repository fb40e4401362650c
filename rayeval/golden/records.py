"""A golden file as records, each with the line (Parquet: the row) where it stands."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rayeval.encoded import CARRIAGE, bare_returns, wide
from rayeval.errors import ConfigError, DataError, InfrastructureError, Problem
from rayeval.files import exists, is_folder, read_bytes
from rayeval.golden.config import Format
from rayeval.golden.contract import Row
from rayeval.golden.ids import id_in, id_of
from rayeval.golden.problems import FaultError, Report
from rayeval.golden.spreadsheet import csv_records, known_columns
from rayeval.golden.text import BOM, decode, parse_json
from rayeval.packed import extension
from rayeval.tables import TIME
from rayeval.twice import fields_twice

FORMATS: dict[str, Format] = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".parquet": "parquet",
}
BLOCK_ROWS = 8192
FOLDER, NO_FILE = (
    f"{found}; name the golden set's file"
    for found in ("this is a folder", "there is no such file")
)


def format_of(path: str) -> Format:
    """The format that the file's extension names, of a packed file (x.jsonl.gz) the inner one.

    Raises ConfigError where it names none, DataError for a folder.
    """
    kind = extension(path)
    if kind in FORMATS:
        return FORMATS[kind]
    if is_folder(path):
        raise DataError([Problem(path, None, None, "missing_file", FOLDER)])
    raise ConfigError(
        f"golden set {path}: the extension is {kind!r}, expected one of "
        f"{', '.join(FORMATS)}; rename the file or set `golden.format`"
    )


def records(path: str, kind: Format, report: Report) -> Iterator[tuple[int, Any]]:
    """(line, value) of every record that can be read; what can't is a problem.

    Raises ConfigError if nobody knows the file system, InfrastructureError if the file is there
    and can't be read.
    """
    try:
        if is_folder(path) or not exists(path):
            found = FOLDER if is_folder(path) else NO_FILE
            report.at(None).problem("missing_file", found)
            return
        data = read_bytes(path)
    except OSError as error:
        raise InfrastructureError(f"can't read golden set {path}: {error}") from error
    if kind != "parquet" and (said := wide(data)):
        report.at(1).problem("not_utf8", said)
        return
    readers = {"jsonl": _json_lines, "csv": csv_records, "parquet": _parquet}
    yield from readers[kind](data, report)


def _json_lines(data: bytes, report: Report) -> Iterator[tuple[int, Any]]:
    offset = len(BOM) if data.startswith(BOM) else 0
    for number, line in enumerate(io.BytesIO(data[offset:]), start=1):
        if line.strip():
            try:
                yield number, parse_json(decode(line, offset))
            except FaultError as error:
                odd = CARRIAGE if bare_returns(line) else str(error)
                report.at(number, id_in(line)).problem(error.kind, odd)
        offset += len(line)


def _parquet(data: bytes, report: Report) -> Iterator[tuple[int, Any]]:
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        names = file.schema_arrow.names
        if not known_columns(names, report.at(None)):
            return
        if inner := fields_twice(file.schema_arrow):
            for said in inner:
                report.at(None).problem("field_twice", said)
            return
        first = 1
        columns = [name for name in names if name in Row.model_fields]
        for batch in file.iter_batches(BLOCK_ROWS, columns=columns):
            yield from _rows(_microseconds(batch), first, report)
            first += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        report.at(None).problem("unreadable_file", f"cut off or damaged ({error}); write it again")


def _microseconds(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Times as Python knows them, which has no nanoseconds."""
    for number, field in enumerate(batch.schema):
        if pa.types.is_timestamp(field.type):
            times = batch.column(number).cast(TIME, safe=False)
            batch = batch.set_column(number, field.name, times)
    return batch


def _rows(batch: pa.RecordBatch, first: int, report: Report) -> Iterator[tuple[int, Any]]:
    try:
        yield from enumerate(batch.to_pylist(), start=first)
    except UnicodeDecodeError as error:
        if batch.num_rows == 1:
            message = f"{error}; write the column's text as UTF-8"
            report.at(first, _id_of_row(batch)).problem("not_utf8", message)
            return
        for number in range(batch.num_rows):
            yield from _rows(batch.slice(number, 1), first + number, report)


def _id_of_row(batch: pa.RecordBatch) -> str | None:
    """The id of the one row, if that much of it can be read."""
    try:
        return id_of(batch.select(["question_id"]).to_pylist()[0])
    except (UnicodeDecodeError, KeyError):
        return None
