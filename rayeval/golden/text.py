"""Bytes to characters to JSON values, each failure with its place."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from typing import Any

from rayeval.encoded import not_utf8
from rayeval.golden.problems import FaultError, path_of
from rayeval.strict_json import KeyTwiceError, loads

BOM = b"\xef\xbb\xbf"
_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")
LONE = re.compile("[\ud800-\udfff]")
"""Half of a UTF-16 pair: no character, and nothing that can be stored."""


def decode(data: bytes, offset: int) -> str:
    """UTF-8 as text.

    offset: where `data` begins in its file, in bytes.
    Raises FaultError that names the first wrong byte's offset in the file.
    """
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise FaultError("not_utf8", not_utf8(data, error, at=offset)) from error


def parse_json(text: str) -> Any:
    """A JSON value all of whose text is valid Unicode.

    Raises FaultError if it isn't JSON, or holds half a surrogate pair.
    """
    try:
        value = loads(text)
    except KeyTwiceError as error:
        raise FaultError("field_twice", str(error)) from error
    except RecursionError as error:
        raise FaultError("invalid_json", "nested too deeply for a question") from error
    except ValueError as error:
        raise FaultError("invalid_json", f"not JSON: {error}") from error
    if r"\ud" in text or r"\uD" in text or LONE.search(text):
        lone = list(_lone_surrogates(value))
        if lone:
            raise FaultError(
                "lone_surrogate",
                f"{', '.join(lone[:3])}: half of a surrogate pair is no character; "
                "write the whole pair, or the character itself",
            )
    return value


def _lone_surrogates(value: Any) -> Iterator[str]:
    """Where text holds lone surrogates, keys included."""
    waiting: list[tuple[tuple[str | int, ...], Any]] = [((), value)]
    while waiting:
        path, item = waiting.pop()
        if isinstance(item, str):
            lone = LONE.search(item)
            if lone:
                yield f"`{path_of(path)}` holds U+{ord(lone[0]):04X} at character {lone.start()}"
        elif isinstance(item, dict):
            waiting += [((*path, "(a field's name)"), key) for key in item]
            waiting += [((*path, key), part) for key, part in item.items()]
        elif isinstance(item, list):
            waiting += [((*path, number), part) for number, part in enumerate(item)]


def folded(name: str) -> str:
    """A name without what is easily written otherwise: case, leading zeros, Unicode form."""
    plain = unicodedata.normalize("NFC", name).casefold()
    return _ZEROS.sub("", plain)
