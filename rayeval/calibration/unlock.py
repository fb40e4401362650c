"""Which judge metrics may decide anything: those whose judge is calibrated (DESIGN §7)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rayeval.calibration.record import Record

EXTRACTS = "claims"
"""The task that takes claims out of an answer. It gives no verdict: where others judge the claims,
theirs need a record; where nothing else is asked, it needs one of its own."""


def locked(
    pins: Mapping[str, Any] | None,
    tasks: Sequence[str],
    languages: Collection[str | None],
    records: Sequence[Record],
) -> str | None:
    """Why a metric decides nothing, being a judge's; None where it may.

    pins: the run's judge as its manifest has it. tasks: what the metric asks of a judge.
    languages: of the questions. Each needs a record in just this language, and so do those of
    which nobody states it.
    """
    if not pins:
        return "the run names no judge"
    for task in [name for name in tasks if name != EXTRACTS] or tasks:
        valid = [record for record in records if _is(record, pins, task)]
        for language in sorted(languages, key=str):
            about = [record for record in valid if record.judge.language == language]
            if not about:
                of = f" in {language}" if language else ", where no language is stated"
                return (
                    f"the judge is not calibrated for {task}{of}: `rayeval judge calibrate "
                    "--record FILE`, then --calibration FILE"
                )
            short = [record.short_of() for record in about]
            if None not in short:
                return f"the judge may not decide {task}: {short[0]}"
    return None


def _is(record: Record, pins: Mapping[str, Any], task: str) -> bool:
    """Whether a record is of exactly this judge at this task."""
    prompt = pins["prompts"].get(task)
    judge = record.judge
    return (
        prompt is not None
        and judge.task == task
        and judge.model == pins["model"]
        and judge.revision == pins["revision"]
        and judge.prompt == prompt["hash"]
    )
