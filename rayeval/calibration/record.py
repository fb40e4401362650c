"""What a calibration allows: gates on one judge's metrics, bound to exactly that judge."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rayeval import files
from rayeval.errors import ConfigError

FLOOR = 0.4
"""Quadratic κ (of nominal labels plain κ) that a judge must reach where nobody says otherwise:
"moderate" agreement. Source: Landis & Koch 1977, doi:10.2307/2529310."""


class Judge(BaseModel):
    """Which judge: another model, prompt or task is another instrument."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    revision: str | None = None
    prompt: str = Field(description="the hash of the task's prompt")
    task: str
    language: str | None = Field(None, description="of the items; none: all languages")


class Record(BaseModel):
    """One calibration of one judge."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    judge: Judge
    n: int
    kappa: float | None
    kappa_quadratic: float | None
    agreement: float | None
    sensitivity: float | None
    specificity: float | None
    alpha: float | None
    prevalence_human: float | None
    intervals: dict[str, list[float] | None]
    floor: float = Field(FLOOR, description="what κ must reach to be valid")
    labels_sha256: dict[str, str] = Field(description="of the files that it was made from")
    made: str

    @property
    def reached(self) -> float | None:
        """The figure that the floor is held against."""
        return self.kappa if self.kappa_quadratic is None else self.kappa_quadratic

    def short_of(self) -> str | None:
        """Why it allows nothing; None where it does."""
        if self.reached is None:
            return "its agreement with people is undefined"
        if self.reached < self.floor:
            return f"its agreement with people, κ {self.reached:.3f}, is under {self.floor:g}"
        return None


def record_of(
    found: Mapping[str, Any], judge: Judge, paths: Sequence[str], floor: float = FLOOR
) -> Record:
    """The record of what `calibrated` found over the label files at `paths`."""
    names = [name for name in Record.model_fields if name in found]
    part = found
    if judge.language is not None:
        part = found["slices"].get(f"language={judge.language}")
        if part is None:
            raise ConfigError(f"no item that both labelled has the language {judge.language!r}")
    hashes = {
        path.rpartition("/")[2]: hashlib.sha256(files.read_bytes(path)).hexdigest()
        for path in paths
    }
    figures = {name: part[name] for name in names}
    made = datetime.now(UTC).isoformat(timespec="seconds")
    return Record(judge=judge, **figures, floor=floor, labels_sha256=hashes, made=made)


def read_record(path: str) -> Record:
    """The record in a file. Raises ConfigError if it is none."""
    if not files.exists(path) or files.is_folder(path):
        raise ConfigError(f"no calibration record at {path}; `rayeval judge calibrate --record`")
    try:
        return Record.model_validate(json.loads(files.read_bytes(path)))
    except (ValueError, ValidationError) as error:
        raise ConfigError(f"{path} is no calibration record: {error}") from error
