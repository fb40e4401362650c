"""Files as records, by their extension alone."""

from __future__ import annotations

import ast
import csv
import io
import json
import re
import tokenize
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rayeval.errors import Problem
from rayeval.files import is_folder, list_files, open_fs
from rayeval.interop.json_files import json_array, json_lines
from rayeval.interop.records import Record, RefusedError
from rayeval.interop.whole import BOM, broken, check_file, check_kind, content, decoded
from rayeval.packed import extension
from rayeval.tables import TIME
from rayeval.twice import refuse_twice
from rayeval.words import plural

BATCH_ROWS = 1024
DELIMITERS = {".csv": ",", ".tsv": "\t"}
OTHERS = (";", "\t")
"""What spreadsheets write into .csv too: Excel a semicolon wherever a comma marks decimals."""
TEXT_FILES = (".txt", ".md")
_LINE_END = re.compile("[\r\n]")


def source_text(path: str) -> str:
    """The whole file as it decodes, a leading U+FEFF included: offsets count from there."""
    return decoded(content(path), path, None)


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
        check_kind(path, kinds)
        yield from READERS[extension(path)](path, problems)


def delimiter_of(path: str, header: str) -> str:
    """What stands between the cells of a CSV or TSV file.

    header: its first line. Of a .csv that would have one column only, what gives it several.
    """
    usual = DELIMITERS[extension(path)]
    if extension(path) == ".csv" and _columns(header, usual) < 2:
        return next((other for other in OTHERS if _columns(header, other) > 1), usual)
    return usual


def _columns(header: str, delimiter: str) -> int:
    try:
        return len(next(csv.reader(io.StringIO(header, newline=""), delimiter=delimiter), ()))
    except csv.Error:  # who reads the cells says what is wrong
        return 0


def _cells(path: str, problems: list[Problem]) -> Iterator[Record]:
    """CSV rows; empty cells are null. `line` is the first of the row's lines."""
    data = decoded(content(path).removeprefix(BOM), path, None)
    csv.field_size_limit(max(csv.field_size_limit(), len(data) + 1))
    delimiter = delimiter_of(path, _LINE_END.split(data.lstrip("\r\n"), maxsplit=1)[0])
    reader = csv.reader(io.StringIO(data, newline=""), delimiter=delimiter, strict=True)
    header: list[str] = []
    doubled: dict[str, list[int]] = {}
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise broken(path, "invalid_csv", f"{error}; quote the cell", line) from error
        if cells is None:
            return
        if not any(cells):  # a spreadsheet leaves rows of empty cells behind
            continue
        if not header:
            header = [name.strip() for name in cells]
            doubled = _doubled(header)
            continue
        if len(cells) != len(header):
            message = f"{plural(len(cells), 'cell')} under {plural(len(header), 'column')}"
            problems.append(Problem(path, line, None, "invalid_csv", message))
            continue
        if name := _at_odds(doubled, cells):
            message = f"column {name!r} is there twice and says two things; keep one"
            problems.append(Problem(path, line, None, "field_twice", message))
            continue
        yield Record(path, line, {k: v or None for k, v in zip(header, cells, strict=True)})


def _doubled(header: list[str]) -> dict[str, list[int]]:
    """Column → its places, of every one that is there more than once."""
    places: dict[str, list[int]] = {}
    for place, name in enumerate(header):
        places.setdefault(name, []).append(place)
    return {name: some for name, some in places.items() if len(some) > 1}


def _at_odds(doubled: dict[str, list[int]], cells: list[str]) -> str | None:
    """The first column that says one thing here and another there; Phoenix's say the same."""
    odd = (name for name, some in doubled.items() if len({cells[place] for place in some}) > 1)
    return next(odd, None)


def _parquet(path: str, problems: list[Problem]) -> Iterator[Record]:
    check_file(path)
    fs, inner = open_fs(path)
    row = 0
    try:
        with fs.open_input_file(inner) as stream:
            file = pq.ParquetFile(stream)
            refuse_twice(path, file.schema_arrow)
            for batch in file.iter_batches(BATCH_ROWS):
                for value in _microseconds(batch).to_pylist():
                    row += 1
                    yield Record(path, row, value)
    except (pa.ArrowException, OSError) as error:
        raise broken(
            path, "unreadable_file", f"cut off or damaged ({error}); write it again"
        ) from error
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
    ".jsonl": json_lines,
    ".ndjson": json_lines,
    ".json": json_array,
    ".csv": _cells,
    ".tsv": _cells,
    ".parquet": _parquet,
}


def listed(cell: str, at: str) -> list[Any]:
    """A cell that holds a list, as JSON, Python or NumPy write it.

    Raises RefusedError for anything else.
    """
    word = cell.strip()
    try:
        value = json.loads(word)
    except ValueError:
        value = _spaced(word) or _literal(word)
    if not isinstance(value, list):
        message = f"`{at}` is {word[:60]!r}, expected a list as JSON or Python writes it"
        raise RefusedError("wrong_type", message)
    return value


def _literal(word: str) -> Any:
    try:
        value = ast.literal_eval(word)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return value if repr(value) == word else None


def _spaced(word: str) -> list[str] | None:
    """NumPy's ['a' 'b'], which Python would read as one text; None for any other list."""
    if not word.startswith(("['", '["')):
        return None
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(word).readline))
    except (tokenize.TokenError, SyntaxError):
        return None
    kept = [token for token in tokens if token.string.strip()]
    inner = kept[1:-1]
    if kept[-1].string != "]" or any(token.type != tokenize.STRING for token in inner):
        return None
    try:
        return [ast.literal_eval(token.string) for token in inner]
    except (ValueError, SyntaxError):
        return None
