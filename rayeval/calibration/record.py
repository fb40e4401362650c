"""What a calibration allows: gates on one judge's metrics, bound to exactly that judge."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    NonNegativeInt,
    ValidationError,
)

from rayeval import files
from rayeval.calibration.calibrated import LANGUAGE, UNSTATED
from rayeval.errors import ConfigError

FLOOR = 0.4
"""Quadratic κ (of nominal labels plain κ) that a judge must reach where nobody says otherwise:
"moderate" agreement. Source: Landis & Koch 1977, doi:10.2307/2529310."""
FEWEST = 30
"""Under so many items an interval of κ says little, least of all where all of them agree."""


Finite = Annotated[float, Field(allow_inf_nan=False)]


def _ordered(limits: list[float]) -> list[float]:
    """An interval of agreement. Raises ValueError if it is none."""
    if len(limits) != 2 or limits[0] > limits[1] or limits[1] > 1 + 1e-9:
        raise ValueError("expected two limits, the lower first, at most 1")
    return limits


Limits = Annotated[list[Finite], AfterValidator(_ordered)]


class Judge(BaseModel):
    """Which judge: another model, prompt or task is another instrument."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    revision: str | None = None
    prompt: str = Field(description="the hash of the task's prompt")
    task: str
    language: str | None = Field(None, description="of the items; null: nobody states it")


class Record(BaseModel):
    """One calibration of one judge at one task in one language."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    judge: Judge
    n: NonNegativeInt
    clusters: NonNegativeInt
    kappa: Finite | None
    kappa_quadratic: Finite | None
    agreement: Finite | None
    sensitivity: Finite | None
    specificity: Finite | None
    alpha: Finite | None
    prevalence_human: Finite | None
    intervals: dict[str, Limits | None]
    floor: float = Field(FLOOR, ge=-1, le=1, description="what κ must reach with 95% confidence")
    labels_sha256: dict[str, str] = Field(description="of the files of human and judge")
    made: str

    def short_of(self) -> str | None:
        """Why it allows nothing; None where it does."""
        name = "kappa" if self.kappa_quadratic is None else "kappa_quadratic"
        reached, limits = getattr(self, name), self.intervals.get(name)
        if self.n < FEWEST:
            return f"of the {FEWEST} items that must be labelled at least, {self.n} are"
        if reached is None or limits is None:
            return "its agreement with people is undefined"
        if limits[0] < self.floor:
            return (
                f"its agreement with people, κ {reached:.3f}, may be as low as {limits[0]:.3f}, "
                f"under {self.floor:g}"
            )
        return None


class Records(BaseModel):
    """What a file of records holds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    records: tuple[Record, ...] = Field(min_length=1)


def records_of(
    found: Mapping[str, Any], judge: Judge, labels: Mapping[str, str], floor: float = FLOOR
) -> Records:
    """The records of what `calibrated` found. labels: side → the hash of its file.

    One per language of the items, or only that of `judge`, which is that of all items where none
    states its own.
    Raises ConfigError if no item is in that language.
    """
    parts = dict(_languages(found)) or {judge.language: found}
    if judge.language is not None:
        if judge.language not in parts:
            known = ", ".join(sorted(name for name in parts if name is not None))
            said = f"no item that both labelled has the language {judge.language!r}"
            raise ConfigError(f"{said}; there are: {known}")
        parts = {judge.language: parts[judge.language]}
    shared = {
        "floor": floor,
        "labels_sha256": labels,
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    figures = [name for name in Record.model_fields if name in found]
    return Records(
        records=tuple(
            Record(
                judge=judge.model_copy(update={"language": language}),
                **{name: part[name] for name in figures},
                **shared,
            )
            for language, part in parts.items()
        )
    )


def _languages(found: Mapping[str, Any]) -> Iterator[tuple[str | None, Mapping[str, Any]]]:
    """(language, its figures); none where no item states one."""
    for name, part in found["slices"].items():
        if name == UNSTATED:
            yield None, part
        elif name.startswith(LANGUAGE):
            yield name.removeprefix(LANGUAGE), part


def read_records(path: str) -> tuple[Record, ...]:
    """The records in a file. Raises ConfigError if there are none."""
    if not files.exists(path) or files.is_folder(path):
        raise ConfigError(
            f"no calibration record at {path}; `rayeval judge calibrate --record FILE` writes one"
        )
    try:
        return Records.model_validate(json.loads(files.read_bytes(path))).records
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        where = ".".join(map(str, wrong["loc"]))
        said = f"{where}: {wrong['msg']}" if where else wrong["msg"]
        raise ConfigError(f"{path} is no calibration record: {said}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path} is no calibration record: {error}") from error


def pinned(values: Sequence[Any] | None) -> list[Record]:
    """The records that a manifest holds."""
    return [Record.model_validate(value) for value in values or ()]
