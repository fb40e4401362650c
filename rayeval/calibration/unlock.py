"""Which judge metrics may decide anything: those whose judge is calibrated (DESIGN §7)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from rayeval.judge.record import Record, deciding


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
    for task in deciding(tasks):
        valid = [record for record in records if record.is_of(pins, task)]
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
