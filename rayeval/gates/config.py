"""A file of gates, in the full form and in the flat one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, model_validator

Finite = Annotated[float, Field(allow_inf_nan=False, strict=True)]
"""A number, as YAML writes one: `yes` and `true` are none."""
Count = Annotated[int, Field(ge=0, strict=True)]
LIMITS = ("min", "max", "max_drop", "min_gain", "max_regressed")
RELATIVE = ("max_drop", "min_gain", "max_regressed")
"""Limits that need a baseline."""
Place = tuple[str | int, ...]
"""Where something stands in a file: keys, and numbers from 0."""
FLAT: dict[str, dict[str, Any]] = {
    "quality_gates": {},
    "performance_gates": {"stage": "end_to_end"},
}
"""The sections of the flat form, with what they take for granted."""


class Gate(BaseModel):
    """One gate; each of its limits is a verdict of its own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str | None = Field(None, description="what to call it; default: what it measures")
    metric: str = Field(description="recall@5, context_tokens, latency_ms.p95, …")
    stage: str | None = Field(None, description="default: the last stage that has the metric")
    slice: str | None = Field(None, description="only questions of this slice")
    min: Finite | None = Field(None, description="the mean is at least this")
    max: Finite | None = Field(None, description="the mean is at most this")
    max_drop: Finite | None = Field(None, ge=0, description="at most so much worse than before")
    min_gain: Finite | None = Field(None, description="at least so much better than before")
    max_regressed: Count | None = Field(None, description="questions that got worse")
    scope: Literal["set", "population"] = Field(
        "set", description="these questions, or questions like these"
    )
    confidence: float = Field(0.95, gt=0.5, lt=1, description="one-sided, of scope population")
    max_error_rate: float = Field(0.0, ge=0, le=1, description="share of rows with an error")
    min_coverage: float | None = Field(
        None, ge=0, le=1, description="share of rows with a value; default: 1 − max_error_rate"
    )
    on_inconclusive: Literal["block", "warn"] = "block"

    @model_validator(mode="after")
    def _has_a_limit(self) -> Self:
        if not self.limits:
            named = f"{', '.join(LIMITS[:-1])} or {LIMITS[-1]}"
            raise ValueError(f"a gate on {self.metric} without a limit; give it {named}")
        return self

    @property
    def limits(self) -> dict[str, float]:
        """Its limits by kind, in a fixed order."""
        stated = {kind: getattr(self, kind) for kind in LIMITS}
        return {kind: value for kind, value in stated.items() if value is not None}

    @property
    def title(self) -> str:
        """Its name, or what it measures and where."""
        where = " of ".join(part for part in (self.stage, self.slice) if part)
        return self.name or f"{self.metric}{' at ' + where if where else ''}"

    @property
    def coverage(self) -> float:
        """The least share of rows that must have a value."""
        return 1 - self.max_error_rate if self.min_coverage is None else self.min_coverage


class Gates(BaseModel):
    """A file of gates."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    gates: tuple[Gate, ...] = Field(min_length=1)
    _places: tuple[str, ...] = PrivateAttr(())

    def placed(self, places: Sequence[str]) -> Self:
        """With where each stands: `gates.yaml:3`."""
        self._places = tuple(places)
        return self

    def place(self, number: int) -> str:
        """What a message begins with that is of this gate; nothing where that isn't known."""
        return f"{self._places[number]}: " if self._places else ""

    @model_validator(mode="before")
    @classmethod
    def _from_flat(cls, values: Any) -> Any:
        """The flat form as the full one: `quality_gates: {recall@20: {min: 0.9}}`."""
        if not isinstance(values, dict) or not FLAT.keys() & values.keys():
            return values
        rest = {key: value for key, value in values.items() if key not in FLAT}
        return {**rest, "gates": [entry for _, entry in entries(values)]}


def entries(values: Mapping[str, Any]) -> list[tuple[Place, Any]]:
    """The gates of a file in either form, each with its place there; what can be none as it is."""
    full = values.get("gates")
    if isinstance(full, list):
        found: list[tuple[Place, Any]] = [(("gates", n), entry) for n, entry in enumerate(full)]
    else:
        found = [] if full is None else [(("gates",), full)]
    for section in FLAT:
        listed = values.get(section) or {}
        if not isinstance(listed, dict):
            found.append(((section,), listed))
            continue
        found += [((section, metric), _flat(section, metric, it)) for metric, it in listed.items()]
    return found


def _flat(section: str, metric: Any, limits: Any) -> Any:
    """A metric and its limits, which may name a stage, a slice and all else of a gate."""
    if not isinstance(limits, dict):
        return limits
    renamed = {str(RENAMED.get(key, key)): value for key, value in limits.items()}
    return {**FLAT[section], "metric": metric, **renamed}


RENAMED = {
    "max_drop_vs_main": "max_drop",
    "min_gain_vs_main": "min_gain",
    "max_regressed_vs_main": "max_regressed",
}
