"""How far people agree with a run's judge: per task and language, and for which metrics not yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from typing import Any

from rayeval.judge.record import Record, deciding, pinned
from rayeval.metrics.names import METRICS
from rayeval.report.tables import Tables

NOBODY = "not calibrated"


@dataclass(frozen=True)
class Standing:
    """The judge at one task, in one language of the run's questions."""

    task: str
    language: str | None
    """None: of questions of which nobody states it."""
    calibrated: bool
    why: str
    """Its agreement, or what it lacks."""


def standings(run: Tables) -> list[Standing]:
    """Of every task that gives verdicts, in the languages of the questions; none without a judge.

    As gates have it (`calibration.unlock`), by the records that `judge.calibration` named.
    """
    pins = run.manifest.get("judge")
    if not pins:
        return []
    spoken = run.select("questions", ["language"])["language"].unique().to_list()
    languages = sorted(spoken, key=lambda name: (name is None, name))
    records = pinned(run.manifest.get("calibration"))
    return [
        _standing(task, name, [one for one in records if one.is_of(pins, task)])
        for task in deciding(pins["tasks"])
        for name in languages
    ]


def _standing(task: str, language: str | None, records: Sequence[Record]) -> Standing:
    """records: of the judge at the task."""
    about = [record for record in records if record.judge.language == language]
    good = [record for record in about if record.short_of() is None]
    if good:
        return Standing(task, language, True, _agreement(good[-1]))
    return Standing(task, language, False, (about[-1].short_of() if about else None) or NOBODY)


def _agreement(record: Record) -> str:
    name = "kappa" if record.kappa_quadratic is None else "kappa_quadratic"
    low, high = record.intervals.get(name) or (float("nan"), float("nan"))
    kind = "κ" if name == "kappa" else "quadratic κ"
    return f"{kind} {getattr(record, name):.2f} [{low:.2f}, {high:.2f}], n {record.n:,}"


def standings_json(run: Tables) -> list[dict[str, Any]]:
    """The same as values."""
    return [asdict(one) for one in standings(run)]


def trust_text(run: Tables) -> Iterator[str]:
    """The same, a line per task, languages that fare alike together."""
    for task, group in groupby(standings(run), key=lambda one: one.task):
        said: dict[str, list[str]] = {}
        for one in group:
            lacks = NOBODY if one.why == NOBODY else f"{NOBODY}, {one.why}"
            state = f"calibrated, {one.why}" if one.calibrated else lacks
            said.setdefault(state, []).append(one.language or "no language stated")
        yield f"{task}: " + "; ".join(f"{', '.join(who)}: {state}" for state, who in said.items())
    pins, known = run.manifest.get("judge"), pinned(run.manifest.get("calibration"))
    others = [one.judge.task for one in known if pins and not one.is_of(pins, one.judge.task)]
    if others:
        tasks = ", ".join(dict.fromkeys(others))
        yield f"records of another judge, revision or prompt, which say nothing here: {tasks}"


def unsure(run: Tables) -> frozenset[str]:
    """The judge's metrics that decide nothing yet: in some language nobody has calibrated it."""
    lacking = {one.task for one in standings(run) if not one.calibrated}
    return frozenset(
        name for name, metric in METRICS.items() if lacking.intersection(deciding(metric.tasks))
    )
