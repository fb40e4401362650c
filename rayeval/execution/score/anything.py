"""Scoring a trace in whatever form a caller holds it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, cast

import pyarrow as pa

from rayeval.errors import DataError, Problem
from rayeval.execution.runs import Run
from rayeval.execution.score.options import ScoreOptions
from rayeval.execution.score.run import score, score_tables
from rayeval.interop.own.jsonl import Lines


def score_anything(
    golden: str,
    trace: str | os.PathLike[str] | Iterable[pa.Table] | Iterable[dict[str, Any]],
    options: ScoreOptions,
) -> Run:
    """The run of a file, of tables of schema FOREIGN, or of rows as JSON Lines have them."""
    if isinstance(trace, str | os.PathLike):
        return score(golden, [os.fspath(trace)], options)
    items = iter((trace,) if isinstance(trace, pa.Table) else trace)
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
