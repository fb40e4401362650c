"""Tables of cells, read column by column; the lines of what is wrong are looked up afterwards."""

from __future__ import annotations

import codecs
import csv
import io
from collections.abc import Callable, Sequence
from itertools import chain

import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv

from rayeval.encoded import not_utf8, refuse_wide
from rayeval.errors import DataError, Problem
from rayeval.files import reading
from rayeval.interop.reading import DELIMITERS, delimiter_of, records
from rayeval.interop.whole import broken, check_file, check_kind

ROW = "row number"
"""The column that says which record of its file a row was, from 0."""


def cells(path: str, needed: Sequence[str]) -> pl.DataFrame:
    """A CSV or TSV file as text columns, empty cells null, with ROW.

    needed: columns that must be there.
    Raises DataError for a file that can't be read, with every row that has too many or few cells.
    """
    check_kind(path, [*DELIMITERS])
    check_file(path)
    _check_utf8(path)
    delimiter, names = header(path)
    if not any(names):
        raise broken(path, "missing_field", "the first line names no columns", 1)
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise broken(path, "field_twice", f"column {twice[0]!r} is there twice", 1)
    lacking = [name for name in needed if name not in names]
    if lacking:
        message = f"no column {lacking[0]!r} among {', '.join(names) or 'none'}"
        raise broken(path, "missing_field", message, 1)
    return pl.DataFrame(pl.from_arrow(_table(path, delimiter, names))).with_row_index(ROW)


def _check_utf8(path: str) -> None:
    """Arrow decodes a row with too many or few cells where no error of it can be caught."""
    at, decoder = 0, codecs.getincrementaldecoder("utf-8")()
    try:
        with reading(path) as stream:
            while block := stream.read(1 << 20):
                if at == 0:
                    refuse_wide(path, block)
                kept = len(decoder.getstate()[0])  # of a character that the last block began
                decoder.decode(block)
                at += len(block)
        kept = len(decoder.getstate()[0])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        said = not_utf8(error.object, error, at=at - kept)
        raise broken(path, "not_utf8", said) from error


def header(path: str) -> tuple[str, list[str]]:
    """What stands between cells, and the columns' names."""
    with reading(path) as stream:
        lines = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="replace", newline="")
        first = next(lines, "")
        delimiter = delimiter_of(path, first)
        rows = csv.reader(chain([first], lines), delimiter=delimiter)
        try:
            return delimiter, [name.strip() for name in next(rows, [])]
        except csv.Error as error:
            raise broken(path, "invalid_csv", f"{error}; quote the cell", 1) from error


def _table(path: str, delimiter: str, names: list[str]) -> pa.Table:
    ragged: list[object] = []

    def skipped(row: object) -> str:
        ragged.append(row)
        return "skip"

    options = {
        "read_options": pa_csv.ReadOptions(column_names=names),
        "parse_options": pa_csv.ParseOptions(
            delimiter=delimiter,
            newlines_in_values=True,
            invalid_row_handler=skipped,
        ),
        "convert_options": pa_csv.ConvertOptions(
            column_types=dict.fromkeys(names, pa.large_string()),
            null_values=[""],
            strings_can_be_null=True,
        ),
    }
    try:
        with reading(path) as stream:
            table = pa_csv.read_csv(stream, **options).slice(1)
    except (pa.ArrowException, OSError) as error:
        raise broken(path, "invalid_csv", f"{error}; save it as CSV in UTF-8") from error
    if ragged:
        raise _ragged(path)
    return table


def _ragged(path: str) -> DataError:
    """Every row that has another number of cells than the header."""
    problems: list[Problem] = []
    for _ in records([path], problems, kinds=tuple(DELIMITERS)):
        pass
    return (
        DataError(problems, foreign=True)
        if problems
        else broken(path, "invalid_csv", "cells don't line up")
    )


def located(
    path: str, found: pl.DataFrame, kind: str, say: Callable[[dict[str, object]], str]
) -> list[Problem]:
    """A problem for every row in `found`, with its line.

    say: what is wrong with a row.
    """
    rows = {row[ROW]: row for row in found.iter_rows(named=True)}
    problems = []
    for number, record in enumerate(records([path], [], kinds=tuple(DELIMITERS))):
        if number in rows:
            row = rows[number]
            who = row.get("question_id")
            name = who if isinstance(who, str) else None
            problems.append(Problem(path, record.line, name, kind, say(row)))
    return problems
