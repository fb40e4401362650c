"""JSON files as records: lines, an array, one object, or objects one after another."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from rayeval.encoded import CARRIAGE, bare_returns, refuse_wide
from rayeval.errors import DataError, Problem
from rayeval.files import reading
from rayeval.interop.records import Record
from rayeval.interop.whole import BOM, broken, check_file, content, decoded, record_of
from rayeval.strict_json import KeyTwiceError, loads, once

_NO_SPACE = re.compile(r"\S")


def json_lines(path: str, problems: list[Problem]) -> Iterator[Record]:
    """The object on every line; a line that is none is a problem."""
    check_file(path)
    with reading(path) as stream:
        for line, raw in enumerate(io.BufferedReader(stream), start=1):
            data = raw.removeprefix(BOM) if line == 1 else raw
            if not data.strip():
                continue
            if line == 1:
                refuse_wide(path, data)
            try:
                yield record_of(_json(decoded(data, path, line), path, line), path, line)
            except DataError as error:
                problems.extend(error.problems)


def json_array(path: str, problems: list[Problem]) -> Iterator[Record]:
    """The objects of an array, the one object, or objects one after another."""
    if _is_lines(path):
        yield from json_lines(path, problems)
        return
    values = _values(path)
    if len(values) == 1 and isinstance(values[0], list):
        values = values[0]
    for row, item in enumerate(values, start=1):
        try:
            yield record_of(item, path, row)
        except DataError as error:
            problems.extend(error.problems)


def _values(path: str) -> list[Any]:
    """The values of a JSON file, one after another as OpenTelemetry's console writes them."""
    text = decoded(content(path).removeprefix(BOM), path, None)
    decoder = json.JSONDecoder(object_pairs_hook=once)
    values: list[Any] = []
    at = _after_space(text, 0)
    while at < len(text) or not values:
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise _unread(error, text, path, None) from error
        values.append(value)
        at = _after_space(text, at)
    return values


def _after_space(text: str, at: int) -> int:
    found = _NO_SPACE.search(text, at)
    return found.start() if found else len(text)


def _is_lines(path: str) -> bool:
    """Whether the first line is an object and others follow, as in JSON Lines called .json."""
    check_file(path)
    with reading(path) as stream:
        first, second = (line.removeprefix(BOM) for line in _two_lines(stream))
        try:
            return second.startswith(b"{") and isinstance(loads(first), dict)
        except (ValueError, RecursionError):
            return False


def _two_lines(stream: pa.NativeFile) -> tuple[bytes, bytes]:
    lines = io.BufferedReader(stream)
    return lines.readline(), lines.readline()


def _json(data: str, path: str, line: int | None) -> Any:
    try:
        return loads(data)
    except (ValueError, RecursionError) as error:
        raise _unread(error, data, path, line) from error


def _unread(error: Exception, data: str, path: str, line: int | None) -> DataError:
    if isinstance(error, KeyTwiceError):
        return broken(path, "field_twice", str(error), line)
    said = "nested too deeply" if isinstance(error, RecursionError) else f"not JSON: {error}"
    said = CARRIAGE if bare_returns(data.encode()) else said
    return broken(path, "invalid_json", said, line)
