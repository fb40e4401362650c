"""Scoring a trace in whatever form a caller holds it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any, cast

import polars as pl
import pyarrow as pa

from rayeval.errors import ConfigError, DataError, Problem
from rayeval.execution.runs import Run
from rayeval.execution.score.options import ScoreOptions
from rayeval.execution.score.run import score, score_tables
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
        return score_tables(golden, _tables(cast("Iterator[dict[str, Any]]", every)), options)
    return score_tables(golden, cast("Iterator[pa.Table]", every), options)


def _tables(rows: Iterable[dict[str, Any]]) -> Iterator[pa.Table]:
    """Raises DataError with all that is wrong with the rows."""
    problems: list[Problem] = []
    yield from Lines(problems).of(rows)
    if problems:
        raise DataError(problems)
