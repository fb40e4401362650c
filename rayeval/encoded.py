"""Text in another form than UTF-8 with line ends that end lines: what to say of it.

One place, so that a trace, a golden set, documents and labels say the same of the same file.
"""

from __future__ import annotations

import codecs
import re

from rayeval.errors import DataError, Problem

MARKS = {
    codecs.BOM_UTF32_LE: "UTF-32",  # before UTF-16, with whose mark it begins
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}
_UNMARKED = re.compile(rb"(?:[\t\n\r -~]\0){4}|(?:\0[\t\n\r -~]){4}")
_ENDED = re.compile(rb"\}[ \t]*\r(?!\n)[\r \t]*\{")
CARRIAGE = "lines end with a carriage return alone; save the file with line ends of LF or CRLF"


def wide(data: bytes) -> str | None:
    """What to say of a file that begins with `data`, if it is UTF-16 or UTF-32."""
    kind = next((name for mark, name in MARKS.items() if data.startswith(mark)), None)
    if kind is None and _UNMARKED.match(data):
        kind = "UTF-16"
    return kind and f"the file is {kind}; save it as UTF-8"


def refuse_wide(path: str, data: bytes) -> None:
    """Raises DataError for a file that is UTF-16 or UTF-32, going by its first bytes."""
    if said := wide(data):
        raise DataError([Problem(path, 1, None, "not_utf8", said)], foreign=True)


def not_utf8(data: bytes, error: UnicodeDecodeError, *, at: int | None = None) -> str:
    """What to say of bytes that are not UTF-8.

    at: how many bytes of the file stand before `data`; None: it is a line.
    """
    place = f"{error.start} of the line" if at is None else f"{at + error.start} of the file"
    return f"byte 0x{data[error.start]:02x} at offset {place} is not UTF-8; save the file as UTF-8"


def odd_line(line: bytes) -> tuple[str, str] | None:
    """(kind, message) of a line that can't be JSON for how it is written, whatever it says."""
    try:
        line.decode()
    except UnicodeDecodeError as error:
        return "not_utf8", not_utf8(line, error)
    return ("invalid_json", CARRIAGE) if bare_returns(line) else None


def bare_returns(data: bytes) -> bool:
    """Whether an object ends and the next begins with only a carriage return between them."""
    return _ENDED.search(data) is not None
