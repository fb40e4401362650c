"""Who computes partitions: the protocol that local processes and Ray both keep."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import pyarrow as pa

from rayeval.execution import inputs
from rayeval.execution.step import Step
from rayeval.execution.store import Commit

Served = Callable[[pa.Table], pa.Table]
"""A step as a function of one batch, kept ready."""


class Executor(Protocol):
    """Places work. Results are the same whoever does it."""

    @property
    def lost(self) -> tuple[type[Exception], ...]:
        """What is raised where a worker is gone."""
        ...

    def call(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """`function` of every item, in order; results are small."""
        ...

    def compute(self, step: Step, parts: Sequence[int]) -> Iterator[Commit]:
        """Partitions of a step, in the order in which they are finished."""
        ...

    def serve(self, step: Step) -> Served:
        """The step ready to answer single batches; freed by `close`."""
        ...

    def close(self) -> None:
        """Ends every worker."""
        ...


def shard_count(root: str, step: Step, wanted: int) -> int:
    """How many shards a scatter step has: its own where they are configuration, else as placed."""
    if step.pinned:
        return step.parts or 1
    sharded = [inputs.count(root, key) for key in step.sharded.values()]
    return max(1, min([wanted, *sharded]))
