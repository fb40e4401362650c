"""Adding steps to a plan: a step that is there already, by its key, is shared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import cast

import pyarrow as pa

from rayeval.execution.calls import UPSTREAM
from rayeval.execution.config import RunConfig
from rayeval.execution.score.config import ScoreConfig
from rayeval.execution.step import Column, Step
from rayeval.execution.store import Output
from rayeval.live.retry import AGAIN
from rayeval.tables import TEXT


@dataclass
class Builder:
    """The steps so far, by key, in an order in which they can be computed."""

    config: RunConfig | ScoreConfig
    steps: dict[str, Step] = field(default_factory=dict)
    named: dict[str, Step] = field(default_factory=dict)
    root: str | None = None
    """The store, where it is known: what was asked in vain is looked up there."""

    @property
    def run(self) -> RunConfig:
        """The configuration of a pipeline that rayeval runs itself."""
        return cast("RunConfig", self.config)

    def add(self, step: Step) -> Step:
        """`step`, or the equal one that is there."""
        step = self.steps.setdefault(step.key, step)
        self.named[step.name] = step
        return step

    def add_asking(self, step: Step, in_vain: Callable[[Output], bool] | None = None) -> Step:
        """As `add`, for a step that asks somebody: one that ended with errors which may pass is
        done again, as another attempt, and with it all that rests on it."""
        first, attempt, in_vain = step, 0, in_vain or asked_in_vain
        while self.root is not None and in_vain(Output(self.root, step.key)):
            attempt += 1
            step = replace(first, identity={**first.identity, "attempt": attempt})
        return self.add(step)


def asked_in_vain(output: Output) -> bool:
    """Whether a finished output holds rows that another run may have an answer to."""
    commits = output.manifest() or []
    return any(
        error.endswith(AGAIN) and not error.startswith(UPSTREAM)
        for commit in commits
        for _, error in commit.errors
    )


def with_error(schema: pa.Schema) -> pa.Schema:
    """`schema` and the column `error`, last."""
    return schema if "error" in schema.names else schema.append(pa.field("error", TEXT))


def columns(step: Step, *names: str, **renamed: str) -> tuple[Column, ...]:
    """Columns of `step` under their own names, or as `column=name`."""
    pairs = [(name, name) for name in names] + list(renamed.items())
    return tuple(Column(step.key, column, name) for column, name in pairs)


def found(steps: Mapping[str, Step], *, column: str = "hits") -> tuple[Column, ...]:
    """Every step's hits as a column named after it, and its errors beside it."""
    return tuple(
        Column(step.key, source, name)
        for label, step in steps.items()
        for source, name in ((column, label), ("error", f"{label}.error"))
    )


def per_question(**fields: pa.DataType) -> pa.Schema:
    """A schema of question_id, `fields`, error."""
    return pa.schema([("question_id", TEXT), *fields.items(), ("error", TEXT)])
