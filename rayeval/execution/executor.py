"""Who computes partitions: the protocol that local processes and Ray both keep."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from rayeval.columns import Floats
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

    def total(self, function: Callable[[Any], Floats], items: Sequence[Any]) -> Floats:
        """Σ `function(item)`, in whatever order, by arrays of one shape; at least one item."""
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


def added(values: Iterable[Floats]) -> Floats:
    """Σ of arrays of one shape, of which one is held at a time."""
    arrays = iter(values)
    total = np.array(next(arrays))
    for array in arrays:
        total += array
    return total


def shard_count(root: str, step: Step, wanted: int) -> int:
    """How many shards a scatter step has: its own where they are configuration, else as placed."""
    if step.pinned:
        return step.parts or 1
    sharded = [inputs.count(root, key) for key in step.sharded.values()]
    return max(1, min([wanted, *sharded]))
