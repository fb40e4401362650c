"""What people's labels said of one judge at one task in one language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, NonNegativeInt

EXTRACTS = "claims"
"""The task that takes claims out of an answer. It gives no verdict: where others judge the claims,
theirs need a record; where nothing else is asked, it needs one of its own."""
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

    def is_of(self, pins: Mapping[str, Any], task: str) -> bool:
        """Whether it is of exactly this judge at this task. pins: as a run's manifest has them."""
        prompt, judge = pins["prompts"].get(task), self.judge
        return (
            prompt is not None
            and judge.task == task
            and judge.model == pins["model"]
            and judge.revision == pins["revision"]
            and judge.prompt == prompt["hash"]
        )


def deciding(tasks: Sequence[str]) -> list[str]:
    """The tasks whose verdicts need a record, of those that a metric asks of a judge."""
    return [name for name in tasks if name != EXTRACTS] or list(tasks)


def pinned(values: Sequence[Any] | None) -> list[Record]:
    """The records that a manifest holds."""
    return [Record.model_validate(value) for value in values or ()]
