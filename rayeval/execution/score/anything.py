"""Scoring a trace, and its chunks, in whatever form a caller holds them."""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain, islice
from typing import Any

import pyarrow as pa

from rayeval import files
from rayeval.errors import ConfigError, DataError, Problem
from rayeval.execution.runs import Run
from rayeval.execution.score.given import is_table, kind, stored_tables
from rayeval.execution.score.options import ScoreOptions
from rayeval.execution.score.run import EMPTY, GIVEN, score
from rayeval.golden.problems import shown
from rayeval.interop import own
from rayeval.interop.own.chunk_lines import check_complete
from rayeval.interop.own.jsonl import Lines

TABLE = "a table of Arrow, Polars or pandas (2.2 or newer)"
CHUNKS = "the given chunks"


def score_anything(golden: str, trace: Any, chunks: Any, options: ScoreOptions) -> Run:
    """The run of a trace: a path, tables as a Parquet file may hold, or rows as JSON Lines do.

    chunks: None, or the same; or several paths.
    """
    root = options.where.root
    with ExitStack() as kept:
        options = replace(options, chunks=_chunks(chunks, root, kept))
        if isinstance(trace, str | os.PathLike):
            return score(golden, [os.fspath(trace)], options)
        items = _items(trace, "trace", f"a path, {TABLE}, a list of such, or rows")
        options = replace(options, format=None, label=GIVEN)
        first = list(islice(items, 1))
        every = chain(first, items)
        if not first or not is_table(first[0]):
            return score(golden, [_written(every, root)], options)
        check = _nothing if options.convention == "trec" else _check_trace
        paths = kept.enter_context(stored_tables(every, GIVEN, check, root))
        if not paths:
            raise DataError([Problem(GIVEN, None, None, "empty_trace", EMPTY)])
        return score(golden, paths, options)


def _chunks(value: Any, root: str, kept: ExitStack) -> tuple[str, ...]:
    """The files of the chunks."""
    if value is None:
        return ()
    if isinstance(value, str | os.PathLike):
        return (os.fspath(value),)
    items = _items(value, "chunks", f"a path, several, {TABLE}, a list of such, or rows")
    every = list(items)  # paths, tables, or rows of a table that is at hand already
    if every and all(isinstance(one, str | os.PathLike) for one in every):
        return tuple(os.fspath(one) for one in every)
    if every and all(isinstance(one, Mapping) for one in every):
        return (_lines(every, root),)
    if not every or not is_table(every[0]):
        raise _wrong("chunks", value, f"a path, several, {TABLE}, a list of such, or rows")
    return tuple(kept.enter_context(stored_tables(every, CHUNKS, _check_chunks, root)))


def _items(value: Any, name: str, expected: str) -> Iterator[Any]:
    """One table, or the tables or rows of a list."""
    if is_table(value):
        return iter([value])
    apart = isinstance(value, str | bytes | Mapping) or _framed(value)
    if apart or not isinstance(value, Iterable):
        raise _wrong(name, value, expected)
    return iter(value)


def _wrong(name: str, value: Any, expected: str) -> ConfigError:
    found = kind(value) if _framed(value) else shown(value)
    return ConfigError(f"{name} is {found}; expected {expected}")


def _framed(value: Any) -> bool:
    """Whether it is some kind of table, be it none that can be read."""
    return hasattr(type(value), "columns") or is_table(value)


def _check_trace(schema: pa.Schema) -> None:
    own.check_schema(GIVEN, schema)


def _check_chunks(schema: pa.Schema) -> None:
    check_complete(CHUNKS, schema.names, schema.names)


def _nothing(schema: pa.Schema) -> None:
    """TREC's own columns are looked at where they are read."""


def _written(rows: Iterable[dict[str, Any]], root: str) -> str:
    """The rows of a trace as a file of the store, so that it holds their answers too.

    Raises DataError with all that is wrong with the rows.
    """
    problems = list[Problem]()

    def check() -> None:
        if problems:
            raise DataError(problems)

    return _lines(Lines(problems).checked(rows), root, check)


def _lines(rows: Iterable[Any], root: str, check: Callable[[], None] = lambda: None) -> str:
    """The rows as JSON Lines in the store, named by content. check: called once all are read."""
    folder, found = f"{files.absolute(root)}/traces", hashlib.sha256()
    files.make_folder(folder)
    fs, inner = files.open_fs(folder)
    temporary = f"{inner}/{uuid.uuid4().hex}.jsonl"
    try:
        with fs.open_output_stream(temporary) as stream:
            for line in rows:
                data = _json(line)
                found.update(data)
                stream.write(data)
        check()
        name = f"{found.hexdigest()[:32]}.jsonl"
        fs.move(temporary, f"{inner}/{name}")
    except BaseException:
        fs.delete_file(temporary)
        raise
    return f"{folder}/{name}"


def _json(row: Any) -> bytes:
    try:
        return json.dumps(row, ensure_ascii=False).encode() + b"\n"
    except (TypeError, ValueError) as error:
        raise ConfigError(f"the row {shown(row)} can't be written as JSON: {error}") from error
