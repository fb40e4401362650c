"""Files as records, by their extension alone."""

from __future__ import annotations

import ast
import csv
import io
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rayeval.errors import DataError, InfrastructureError, Problem
from rayeval.files import exists, is_folder, list_files, open_fs, read_bytes
from rayeval.interop.records import Record, RefusedError
from rayeval.strict_json import KeyTwiceError, loads
from rayeval.tables import TIME
from rayeval.words import plural

BATCH_ROWS = 1024
DELIMITERS = {".csv": ",", ".tsv": "\t"}
OTHERS = (";", "\t")
"""What spreadsheets write into .csv too: Excel a semicolon wherever a comma marks decimals."""
TEXT_FILES = (".txt", ".md")
BOM = b"\xef\xbb\xbf"


def broken(path: str, kind: str, message: str, line: int | None = None) -> DataError:
    """What to raise for a file that can't be read at all."""
    return DataError([Problem(path, line, None, kind, message)])


def extension(path: str) -> str:
    """In lower case, with its dot."""
    return PurePosixPath(path).suffix.lower()


def check_file(path: str) -> None:
    """Raises DataError unless there is a file."""
    if is_folder(path) or not exists(path):
        found = "this is a folder, expected a file" if is_folder(path) else "there is no such file"
        raise broken(path, "missing_file", found)


def content(path: str) -> bytes:
    """The whole file.

    Raises DataError if there is none, InfrastructureError if it can't be read.
    """
    check_file(path)
    try:
        return read_bytes(path)
    except OSError as error:
        raise InfrastructureError(f"can't read {path}: {error}") from error


def source_text(path: str) -> str:
    """The whole file as it decodes, a leading U+FEFF included: offsets count from there."""
    return _decoded(content(path), path, None)


def text_files(path: str) -> Iterator[tuple[str, str]]:
    """(source_id, text) of a text file, or of every one below a folder."""
    if not is_folder(path):
        yield PurePosixPath(path).name, source_text(path)
        return
    for name in list_files(path):
        if extension(name) in TEXT_FILES:
            yield name, source_text(f"{path.rstrip('/')}/{name}")


def records(
    paths: Sequence[str], problems: list[Problem], *, kinds: Sequence[str]
) -> Iterator[Record]:
    """The records of all files, in order; lines that can't be read are problems.

    kinds: the extensions that the format has.
    Raises DataError for a file that can't be read at all, or of another kind.
    """
    for path in paths:
        kind = extension(path)
        if kind not in kinds:
            message = f"the extension is {kind!r}, expected {' or '.join(kinds)}"
            raise broken(path, "unknown_format", message)
        yield from READERS[kind](path, problems)


def json_value(path: str) -> Any:
    """The one value of a JSON file."""
    return _json(_decoded(content(path).removeprefix(BOM), path, None), path, None)


def _json(data: str, path: str, line: int | None) -> Any:
    try:
        return loads(data)
    except KeyTwiceError as error:
        raise broken(path, "field_twice", str(error), line) from error
    except RecursionError as error:
        raise broken(path, "invalid_json", "nested too deeply", line) from error
    except ValueError as error:
        raise broken(path, "invalid_json", f"not JSON: {error}", line) from error


def _decoded(data: bytes, path: str, line: int | None) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        where = f"byte 0x{data[error.start]:02x} at offset {error.start}"
        raise broken(path, "not_utf8", f"{where} is not UTF-8; save it as UTF-8", line) from error


def _object(value: Any, path: str, line: int) -> Record:
    if not isinstance(value, dict):
        raise broken(path, "wrong_type", f"found {str(value)[:60]!r}, expected an object", line)
    return Record(path, line, value)


def _json_lines(path: str, problems: list[Problem]) -> Iterator[Record]:
    check_file(path)
    fs, inner = open_fs(path)
    with fs.open_input_stream(inner) as stream:
        for line, raw in enumerate(io.BufferedReader(stream), start=1):
            data = raw.removeprefix(BOM) if line == 1 else raw
            if not data.strip():
                continue
            try:
                yield _object(_json(_decoded(data, path, line), path, line), path, line)
            except DataError as error:
                problems.extend(error.problems)


def _json_array(path: str, problems: list[Problem]) -> Iterator[Record]:
    """The objects of an array, or the one object."""
    value = json_value(path)
    for row, item in enumerate(value if isinstance(value, list) else [value], start=1):
        try:
            yield _object(item, path, row)
        except DataError as error:
            problems.extend(error.problems)


def delimiter_of(path: str, header: str) -> str:
    """What stands between the cells of a CSV or TSV file.

    header: its first line. Of a .csv that would have one column only, what gives it several.
    """
    usual = DELIMITERS[extension(path)]
    if extension(path) == ".csv" and _columns(header, usual) < 2:
        return next((other for other in OTHERS if _columns(header, other) > 1), usual)
    return usual


def _columns(header: str, delimiter: str) -> int:
    return len(next(csv.reader([header], delimiter=delimiter), ()))


def _cells(path: str, problems: list[Problem]) -> Iterator[Record]:
    """CSV rows; empty cells are null. `line` is the first of the row's lines."""
    data = _decoded(content(path).removeprefix(BOM), path, None)
    csv.field_size_limit(max(csv.field_size_limit(), len(data) + 1))
    delimiter = delimiter_of(path, data.lstrip("\r\n").partition("\n")[0])
    reader = csv.reader(io.StringIO(data, newline=""), delimiter=delimiter, strict=True)
    header: list[str] = []
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise broken(path, "invalid_csv", f"{error}; quote the cell", line) from error
        if cells is None:
            return
        if not cells:
            continue
        if not header:
            header = [name.strip() for name in cells]
            continue
        if len(cells) != len(header):
            message = f"{plural(len(cells), 'cell')} under {plural(len(header), 'column')}"
            problems.append(Problem(path, line, None, "invalid_csv", message))
            continue
        yield Record(path, line, {k: v or None for k, v in zip(header, cells, strict=True)})


def _parquet(path: str, problems: list[Problem]) -> Iterator[Record]:
    check_file(path)
    fs, inner = open_fs(path)
    row = 0
    try:
        with fs.open_input_file(inner) as stream:
            for batch in pq.ParquetFile(stream).iter_batches(BATCH_ROWS):
                for value in _microseconds(batch).to_pylist():
                    row += 1
                    yield Record(path, row, value)
    except (pa.ArrowException, OSError) as error:
        raise broken(path, "unreadable_file", f"not a whole Parquet file: {error}") from error
    except UnicodeDecodeError as error:
        raise broken(path, "not_utf8", f"{error}; write the column's text as UTF-8") from error


def _microseconds(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Times as Python knows them, which has no nanoseconds."""
    for number, field in enumerate(batch.schema):
        if pa.types.is_timestamp(field.type):
            times = batch.column(number).cast(TIME, safe=False)
            batch = batch.set_column(number, field.name, times)
    return batch


READERS: dict[str, Callable[[str, list[Problem]], Iterator[Record]]] = {
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json_array,
    ".csv": _cells,
    ".tsv": _cells,
    ".parquet": _parquet,
}


def listed(cell: str, at: str) -> list[Any]:
    """A cell that holds a list, as JSON or as Python writes it.

    Raises RefusedError for anything else: NumPy's ['a' 'b'] would silently read as one text.
    """
    word = cell.strip()
    try:
        value = json.loads(word)
    except ValueError:
        try:
            value = ast.literal_eval(word)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            value = None
        value = value if repr(value) == word else None
    if not isinstance(value, list):
        message = f"`{at}` is {word[:60]!r}, expected a list as JSON or Python writes it"
        raise RefusedError("wrong_type", message)
    return value
