"""TREC's text files as tables: a row a line, white space between its fields.

Fields are separated as trec_eval separates them: by any run of ASCII white space, whatever else
Unicode calls a space. Blank lines and lines that begin with # are passed over. A file whose lines
are all alike (one blank between fields) is parsed where it lies; any other is brought into that
form first. Only when something is wrong is the file read line by line, to say where.
"""

from __future__ import annotations

import io
import itertools
import mmap
import os
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from rayeval import files
from rayeval.encoded import CARRIAGE, not_utf8, refuse_wide
from rayeval.errors import DataError, InfrastructureError, Problem
from rayeval.packed import codec

BOM = b"\xef\xbb\xbf"
MOST = 1000
"""Problems that are told of one file."""
_PART = 1 << 24
"""Bytes that are brought into form, or looked through, together."""
_BLOCK = 1 << 19
"""Bytes that are looked at together; few enough to stay in the processor's cache."""
_TO_SPACE = bytes.maketrans(b"\t\v\f\r", b"    ")
Buffer = bytes | mmap.mmap
Bytes = npt.NDArray[np.uint8]
Fault = tuple[str, str]
"""(kind, message) of what is wrong with a line."""


@dataclass(frozen=True)
class Layout:
    """What stands on a line."""

    fields: tuple[str, ...]
    kept: dict[str, type[pl.DataType]]
    """The fields that are read, and their types."""
    fault: Callable[[list[bytes]], Fault | None]
    """What is wrong with a line, given its fields."""
    suspect: Callable[[pl.DataFrame], pl.Series]
    """Which lines have more fields than they may, given all of them and, as `more`, the next."""


def read(path: str, layout: Layout) -> pl.DataFrame:
    """The fields that `layout` keeps, by line.

    Raises DataError with every line that is malformed, or if there is no line at all.
    """
    data = contents(path)
    frame = None
    try:
        if alike(data, len(layout.fields)):
            frame = _alike(data, files.open_fs(path)[1], layout)
        frame = _uneven(data, layout) if frame is None else frame
    except pl.exceptions.PolarsError as error:
        raise refused(path, layout) from error
    if frame is None:
        raise refused(path, layout)
    if frame.is_empty():
        raise _empty(path)
    return frame


def contents(path: str) -> Buffer:
    """The bytes of the file, without a byte order mark; .gz and its like are unpacked.

    Raises DataError if there is no such file, or none of lines in UTF-8, InfrastructureError if it
    can't be read.
    """
    if files.is_folder(path) or not files.exists(path):
        found = "this is a folder" if files.is_folder(path) else "there is no such file"
        raise DataError([Problem(path, None, None, "missing_file", f"{found}; name a file")])
    _, inner = files.open_fs(path)
    try:
        if codec(inner) or files.is_uri(path):
            data: Buffer = files.read_bytes(path)
        else:
            with Path(inner).open("rb") as file:
                size = Path(inner).stat().st_size
                data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
    except OSError as error:
        raise InfrastructureError(f"can't read {path}: {error}") from error
    refuse_wide(path, data[:16])
    if data.find(b"\n") < 0 and 0 <= data.find(b"\r") < len(data) - 1:
        raise DataError([Problem(path, None, None, "malformed_file", CARRIAGE)])
    return bytes(data[len(BOM) :]) if data[: len(BOM)] == BOM else data


def alike(data: Buffer, width: int) -> bool:
    """Whether one kind of blank, never two together, stands between `width` fields of every line.

    Short and long lines can cancel out; the long ones then have a field more.
    """
    view = np.frombuffer(data, np.uint8)
    if not len(view) or view[0] <= ord(" ") or view[0] == ord("#"):
        return False
    look = partial(_blanks, view, _separator(data))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        parts = []
        for found in pool.map(look, range(0, len(view), _PART)):
            if found is None:
                pool.shutdown(wait=False, cancel_futures=True)
                return False
            parts.append(found)
    blanks, separators, newlines = (sum(counts) for counts in zip(*parts, strict=True))
    lines = newlines + int(view[-1] != ord("\n"))
    return bool(blanks == separators + newlines and separators == (width - 1) * lines)


def _blanks(view: Bytes, separator: int, first: int) -> tuple[int, int, int] | None:
    """How many blanks, separators and line ends are in a part; None if two blanks are together."""
    blanks = separators = newlines = 0
    part = view[first : first + _PART + 1]  # and the first of the next one
    for start in range(0, min(len(part), _PART), _BLOCK):
        block = part[start : start + _BLOCK + 1]
        blank, newline = block <= ord(" "), block == ord("\n")
        comment = newline[:-1] & (block[1:] == ord("#"))
        if (blank[1:] & blank[:-1]).any() or comment.any():
            return None
        blanks += int(np.count_nonzero(blank[:_BLOCK]))
        separators += int(np.count_nonzero(block[:_BLOCK] == separator))
        newlines += int(np.count_nonzero(newline[:_BLOCK]))
    return blanks, separators, newlines


def _separator(data: Buffer) -> int:
    """The blank between fields, going by the first line."""
    end = data.find(b"\n")
    return ord("\t") if b"\t" in data[: end if end >= 0 else len(data)] else ord(" ")


def _alike(data: Buffer, place: str, layout: Layout) -> pl.DataFrame | None:
    """The table in a file of equal lines; None where one has a field more, or can't be read."""
    source = place if isinstance(data, mmap.mmap) else data  # a file at hand needs no copy
    schema = dict.fromkeys(layout.fields, pl.String) | layout.kept | {"more": pl.Boolean}
    try:  # an empty column of booleans costs nothing; whatever else stands there is no boolean
        frame = _parsed(source, chr(_separator(data)), schema, [*layout.kept, "more"])
    except pl.exceptions.PolarsError:
        return None
    whole = frame["more"].null_count() == frame.height
    return frame.select(list(layout.kept)) if whole else None


def _uneven(data: Buffer, layout: Layout) -> pl.DataFrame | None:
    """The table in any other file; None where something is wrong with it."""
    schema = dict.fromkeys((*layout.fields, "more"), pl.String) | layout.kept
    text = b"".join(_evened(data))
    if b"\0" in text:
        return None
    frame = _parsed(text, " ", schema, list(schema)) if text else pl.DataFrame(schema=schema)
    short = frame[layout.fields[-1]].is_null()
    return None if (short | layout.suspect(frame)).any() else frame.select(list(layout.kept))


def _evened(data: Buffer) -> Iterator[bytes]:
    """The lines with content, one space between fields, block by block."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", start + _PART) + 1 or len(data)
        block = data[start:end].translate(_TO_SPACE)
        block = re.sub(rb"(?m)^ +| +$", b"", re.sub(rb"  +", b" ", block))
        yield re.sub(rb"(?m)^(#.*)?\n", b"", block)
        start = end


def _parsed(
    source: bytes | str,
    separator: str,
    schema: dict[str, type[pl.DataType]],
    columns: Sequence[str],
) -> pl.DataFrame:
    names = list(schema)
    return pl.read_csv(
        source,
        glob=False,
        separator=separator,
        has_header=False,
        schema=schema,
        columns=[names.index(name) for name in columns],
        quote_char=None,
        truncate_ragged_lines=True,
        missing_columns="insert",
        extra_columns="ignore",
    )


def refused(path: str, layout: Layout) -> DataError:
    """The error that names every line with something wrong."""
    found = (
        Problem(path, number, _text(fields[0]), *fault)
        for number, fields in numbered(path)
        if (fault := _unreadable(fields) or layout.fault(fields))
    )
    unknown = Problem(path, None, None, "malformed_file", "it can't be read as a TREC file")
    return DataError(list(itertools.islice(found, MOST)) or [unknown])


def numbered(path: str) -> Iterator[tuple[int, list[bytes]]]:
    """(line number, fields) of every line with content."""
    for number, line in enumerate(io.BytesIO(contents(path)), start=1):
        fields = line.split()
        if fields and not fields[0].startswith(b"#"):
            yield number, fields


def _unreadable(fields: list[bytes]) -> Fault | None:
    line = b" ".join(fields)
    if b"\0" in line:
        return "not_text", "the line holds a NUL character; is this a text file?"
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return "not_utf8", not_utf8(line, error)
    return None


def _empty(path: str) -> DataError:
    message = "there is no line in it; is it the right file, and was it written to the end?"
    return DataError([Problem(path, None, None, "empty_file", message)])


def _text(field: bytes) -> str:
    return field.decode(errors="backslashreplace")
