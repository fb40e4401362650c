"""The stages whose time is taken, and the steps that take it."""

from __future__ import annotations

from dataclasses import dataclass

from rayeval.execution.plan.arm import Arm
from rayeval.execution.step import Step


@dataclass(frozen=True)
class Timed:
    """A stage of the trace and the steps whose time is its own."""

    stage: str
    steps: tuple[Step, ...]
    arm: str | None = None
    """The arm that goes on to fusion with this stage."""
    counters: tuple[tuple[str, str, str], ...] = ()
    """(key, column, counter)."""
    measured: tuple[str, str] | None = None
    """(key, column) of every question's own milliseconds, where they were taken one by one."""
    traced: bool = True
    """Whether it gives hits, and so is a stage of the trace."""
    output: Step | None = None
    """The step with its hits, where that is not the last one timed."""

    @property
    def shown(self) -> Step:
        """The step whose output is the stage's part of the trace."""
        return self.output or self.steps[-1]


def timed_arm(arm: Arm, stage: str) -> Timed:
    """An arm's stage; a dense one embeds the question first, a live one's time is its answer's."""
    search = arm.stages[stage]
    onward = arm.name if stage == arm.onward[0] else None
    if arm.asking is not None:
        return Timed(stage, (arm.asking,), onward, output=search)
    if arm.queries is None:
        return Timed(stage, (search,), onward)
    tokens = ((arm.queries.key, "tokens", "embedded_tokens"),)
    return Timed(stage, (arm.queries, search), onward, tokens)
