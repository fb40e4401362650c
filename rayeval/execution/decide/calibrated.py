"""Whether a metric of a run may decide anything, being a judge's."""

from __future__ import annotations

from collections.abc import Sequence, Set

import polars as pl

from rayeval.calibration.record import read_records
from rayeval.calibration.unlock import Known, Locked, locked
from rayeval.comparison.pairs import Pairs
from rayeval.errors import ConfigError
from rayeval.judge.record import pinned
from rayeval.metrics.names import parse
from rayeval.report.tables import Tables

PINNED = "the run's manifest"


def known_records(paths: Sequence[str]) -> Known:
    """The records in these files. Raises ConfigError if one holds none."""
    return {path: read_records(path) for path in dict.fromkeys(paths)}


def why_locked(metric: str, run: Tables, known: Known, slice_: str | None = None) -> Locked | None:
    """Why a judge's metric decides nothing yet; None where it may, and where it asks no judge.

    known: records besides those that the run carries.
    """
    tasks = _tasks(metric)
    return _locked(tasks, run, known, _languages(run, slice_)) if tasks else None


def uncalibrated(pairs: Pairs, known: Known) -> dict[str, str]:
    """The metrics of both runs whose judge may decide nothing → why."""
    every = dict.fromkeys(name for stage in pairs.stages for name in pairs.metrics(stage))
    judged = {name: tasks for name in every if (tasks := _tasks(name))}
    if not judged:
        return {}
    sides = [(side.run, _languages(side.run, None)) for side in (pairs.new, pairs.base)]
    found = {}
    for name, tasks in judged.items():
        locks = (_locked(tasks, run, known, languages) for run, languages in sides)
        if lock := next(filter(None, locks), None):
            found[name] = lock.why
    return found


def _tasks(metric: str) -> tuple[str, ...]:
    """What it asks of a judge; nothing where it is a latency, or another convention's."""
    try:
        return parse(metric).metric.tasks
    except ConfigError:
        return ()


def _languages(run: Tables, slice_: str | None) -> set[str | None]:
    asked = run.select("questions", ["language", "slices"])
    if slice_ is not None:
        asked = asked.filter(pl.col("slices").list.contains(slice_))
    return set(asked["language"].unique())


def _locked(
    tasks: Sequence[str], run: Tables, known: Known, languages: Set[str | None]
) -> Locked | None:
    own = pinned(run.manifest.get("calibration"))
    every = {**({PINNED: own} if own else {}), **known}
    return locked(run.manifest.get("judge"), tasks, languages, every)
