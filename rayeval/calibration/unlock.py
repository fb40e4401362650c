"""Which judge metrics may decide anything: those whose judge is calibrated (DESIGN §7)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rayeval.judge.record import Record, deciding

Known = Mapping[str, Sequence[Record]]
"""Where records were read → what was in there."""


@dataclass(frozen=True)
class Locked:
    """Why a judge's metric decides nothing."""

    why: str
    remedy: str = ""
    """What to do, and which records were read in vain."""

    def __str__(self) -> str:
        return f"{self.why}: {self.remedy}" if self.remedy else self.why


def locked(
    pins: Mapping[str, Any] | None,
    tasks: Sequence[str],
    languages: Collection[str | None],
    known: Known,
) -> Locked | None:
    """Why a metric decides nothing, being a judge's; None where it may.

    pins: the run's judge as its manifest has it. tasks: what the metric asks of a judge.
    languages: of the questions. Each needs a record in just this language, and so do those of
    which nobody states it. The records that were read and don't apply are named.
    """
    if not pins:
        return Locked("the run names no judge")
    if pins.get("origin"):
        return Locked(
            f"the verdicts of {pins['model']} came with {pins['origin']}, and nobody knows by "
            "which model, so that no calibration can be of it",
            "judge the answers with `score --judge`",
        )
    records = [record for part in known.values() for record in part]
    for task in deciding(tasks):
        valid = [record for record in records if record.is_of(pins, task)]
        for language in sorted(languages, key=str):
            about = [record for record in valid if record.judge.language == language]
            if not about:
                return Locked(
                    f"the judge is not calibrated for {task}{_of(language)}",
                    "`rayeval judge calibrate --record FILE`, then --calibration FILE. "
                    + _read(known, pins, task, language),
                )
            short = [record.short_of() for record in about]
            if None not in short:
                return Locked(f"the judge may not decide {task}{_of(language)}: {short[0]}")
    return None


def _of(language: str | None) -> str:
    return f" in {language}" if language else ", where no language is stated"


def _read(known: Known, pins: Mapping[str, Any], task: str, language: str | None) -> str:
    """The records that were read, by file, and why they don't apply."""
    told = []
    for source, records in known.items():
        whys = dict.fromkeys("; ".join(_whys(record, pins, task, language)) for record in records)
        told.append(f"{source} has {', and '.join(f'one {why}' for why in whys)}")
    return f"Read, but of no use here: {'. '.join(told)}." if told else "No record was read."


def _whys(
    record: Record, pins: Mapping[str, Any], task: str, language: str | None
) -> Iterator[str]:
    yield from _others(record, pins, task)
    stated = record.judge.language
    if record.judge.task == task and stated != language:
        yield f"in {stated}" if stated else "without a language"


def _others(record: Record, pins: Mapping[str, Any], task: str) -> Iterator[str]:
    """What of a record is another judge's than exactly this one's at this task."""
    judge, prompt = record.judge, pins["prompts"].get(task)
    if judge.task != task:
        yield f"of task {judge.task}"
        return  # its prompt is another in any case
    if judge.model != pins["model"]:
        yield f"of model {judge.model} (the run's: {pins['model']})"
    if judge.revision != pins["revision"]:
        yield f"of revision {judge.revision} (the run's: {pins['revision']})"
    if prompt is None:
        yield "of a prompt (the run has none for this task)"
    elif judge.prompt != prompt["hash"]:
        yield f"of prompt {judge.prompt[:12]} (the run's: {prompt['hash'][:12]})"
