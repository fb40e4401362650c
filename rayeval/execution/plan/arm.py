"""What the rest of a plan needs of one arm."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from rayeval.execution.plan.builder import Builder, columns
from rayeval.execution.step import Column, Step
from rayeval.retrieve.dense.config import Dense
from rayeval.retrieve.lexical.bm25 import Bm25


@dataclass(frozen=True)
class Arm:
    """What the rest of the plan needs of one arm."""

    name: str
    config: Bm25 | Dense
    stages: dict[str, Step]
    """Trace stage → its step; the last one goes on to fusion."""
    sharded: dict[str, str] = field(default_factory=dict)
    whole: dict[str, str] = field(default_factory=dict)
    query: tuple[Column, ...] = ()
    """A question's batch where it is more than the question."""
    queries: Step | None = None
    """The step that embeds questions, where there is one."""

    @property
    def name_exact(self) -> str:
        """The trace stage of its exact (or only) search."""
        return next(iter(self.stages))

    @property
    def identity(self) -> dict[str, Any]:
        """Its settings; whatever else decides its scores is in the keys of its inputs."""
        return {**self.config.identity(), "arm": self.name}

    def asked(self, resolved: Step) -> tuple[Column, ...]:
        """What a question's batch holds for this arm."""
        own = columns(resolved, "question_id", "question", "principals", error="resolved.error")
        return self.query or own

    @property
    def onward(self) -> tuple[str, Step]:
        """The stage whose hits go on."""
        return list(self.stages.items())[-1]


def filter_identity(builder: Builder) -> dict[str, object]:
    """The filter, as part of a search step's identity."""
    return {"filter": builder.run.retrieve.filter.identity()}
