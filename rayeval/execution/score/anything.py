"""Scoring a trace in whatever form a caller holds it."""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, cast

import polars as pl
import pyarrow as pa

from rayeval import files
from rayeval.errors import ConfigError, DataError, Problem
from rayeval.execution.runs import Run
from rayeval.execution.score.options import ScoreOptions
from rayeval.execution.score.run import GIVEN, score, score_tables
from rayeval.golden.problems import shown
from rayeval.interop.own.jsonl import Lines


def score_anything(
    golden: str,
    trace: str | os.PathLike[str] | Iterable[pa.Table] | Iterable[dict[str, Any]],
    options: ScoreOptions,
) -> Run:
    """The run of a file, of tables of schema FOREIGN, or of rows as JSON Lines have them."""
    if isinstance(trace, str | os.PathLike):
        return score(golden, [os.fspath(trace)], options)
    if isinstance(trace, pl.DataFrame):
        trace = trace.to_arrow()
    if isinstance(trace, pa.Table):
        trace = [trace]
    if isinstance(trace, bytes | Mapping) or not isinstance(trace, Iterable):
        raise ConfigError(
            f"trace is {shown(trace)}; expected a path, tables of schema FOREIGN, or rows"
        )
    items = iter(trace)
    first = list(next(([item] for item in items), []))
    every = chain(first, items)
    if first and not isinstance(first[0], pa.Table):
        path = _written(cast("Iterator[dict[str, Any]]", every), options.where.root)
        return score(golden, [path], replace(options, format=None, label=GIVEN))
    return score_tables(golden, cast("Iterator[pa.Table]", every), options)


def _written(rows: Iterable[dict[str, Any]], root: str) -> str:
    """The rows as a file of the store, named by content, so that it holds their answers too.

    Raises DataError with all that is wrong with the rows.
    """
    folder, found, problems = f"{files.absolute(root)}/traces", hashlib.sha256(), list[Problem]()
    fs, inner = files.open_fs(folder)
    fs.create_dir(inner, recursive=True)
    temporary = f"{inner}/{uuid.uuid4().hex}.jsonl"
    try:
        with fs.open_output_stream(temporary) as stream:
            for line in Lines(problems).checked(rows):
                data = json.dumps(line, ensure_ascii=False).encode() + b"\n"
                found.update(data)
                stream.write(data)
        if problems:
            raise DataError(problems)
        name = f"{found.hexdigest()[:32]}.jsonl"
        fs.move(temporary, f"{inner}/{name}")
    except BaseException:
        fs.delete_file(temporary)
        raise
    return f"{folder}/{name}"
