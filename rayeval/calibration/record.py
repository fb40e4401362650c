"""What a calibration allows: gates on one judge's metrics, bound to exactly that judge."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from rayeval import files
from rayeval.calibration.calibrated import LANGUAGE, UNSTATED
from rayeval.errors import ConfigError
from rayeval.judge.record import FEWEST, FLOOR, Judge, Record, pinned

__all__ = ["FEWEST", "FLOOR", "Judge", "Record", "Records", "pinned", "read_records", "records_of"]


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
