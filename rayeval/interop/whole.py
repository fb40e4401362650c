"""A file and its bytes: what is said of one that can't be read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rayeval.encoded import not_utf8, refuse_wide
from rayeval.errors import DataError, InfrastructureError, Problem
from rayeval.files import exists, is_folder, names_in, read_bytes
from rayeval.interop.records import Record
from rayeval.packed import extension

BOM = b"\xef\xbb\xbf"
NAMED = 5
"""How many files of a folder are named."""


def broken(path: str, kind: str, message: str, line: int | None = None) -> DataError:
    """What to raise for a file that can't be read at all."""
    return DataError([Problem(path, line, None, kind, message)])


def check_kind(path: str, kinds: Sequence[str]) -> None:
    """Raises DataError unless the extension is one of `kinds`; of a folder with what lies in it."""
    if extension(path) in kinds:
        return
    expected = f"expected {' or '.join(kinds)}"
    if is_folder(path):
        there = [name for name in names_in(path) if extension(name) in kinds]
        more = ", …" if len(there) > NAMED else ""
        names = f"; in it {'are' if len(there) > 1 else 'is'} {', '.join(there[:NAMED])}{more}"
        said = f"this is a folder, {expected}{names if there else '; it has no such file'}"
        raise broken(path, "unknown_format", said)
    raise broken(path, "unknown_format", f"the extension is {extension(path)!r}, {expected}")


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


def decoded(data: bytes, path: str, line: int | None) -> str:
    """Text of bytes in UTF-8.

    line: where `data` stands; None: it is the whole file.
    Raises DataError for others.
    """
    if line in (None, 1):
        refuse_wide(path, data)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        said = not_utf8(data, error, at=0 if line is None else None)
        raise broken(path, "not_utf8", said, line) from error


def record_of(value: Any, path: str, line: int) -> Record:
    """A record of a JSON object.

    Raises DataError for other values.
    """
    if not isinstance(value, dict):
        raise broken(path, "wrong_type", f"found {str(value)[:60]!r}, expected an object", line)
    return Record(path, line, value)
