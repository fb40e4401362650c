"""What a worker reads: a partition's batch, a shard's tables, a reduced table."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import pyarrow as pa

from rayeval import files
from rayeval.errors import InfrastructureError
from rayeval.execution.step import Step
from rayeval.execution.store import Output, read


def paths(root: str, key: str) -> tuple[str, ...]:
    """The files of a whole output; they never change, so its manifest is read once.

    Unless that is another one: somebody may delete a store, and fill it again, while this process
    lives.
    """
    root = files.absolute(root)  # the working directory may be another one soon
    return _paths(root, key, files.version(Output(root, key).manifest_path))


@lru_cache(maxsize=256)
def _paths(root: str, key: str, version: tuple[int, int]) -> tuple[str, ...]:
    return tuple(Output(root, key).paths())


def count(root: str, key: str) -> int:
    """How many partitions a whole output has for the steps that read it."""
    return len(paths(root, key))


def batch(root: str, step: Step, part: int) -> pa.Table:
    """The batch of partition `part`: columns of earlier outputs side by side."""
    wanted: dict[str, list[tuple[str, str]]] = {}
    for column in step.batch:
        wanted.setdefault(column.key, []).append((column.column, column.name))
    columns: dict[str, pa.ChunkedArray] = {}
    for key, names in wanted.items():
        table = read(paths(root, key)[part], sorted({column for column, _ in names}))
        columns |= {name: table[column] for column, name in names}
    if len({len(column) for column in columns.values()}) > 1:
        raise InfrastructureError(f"step {step.name}: the inputs of partition {part} don't align")
    return pa.table({column.name: columns[column.name] for column in step.batch})


class StoreShard:
    """The inputs of one worker, read from the store (`rayeval.stage.Shard`)."""

    def __init__(self, root: str, step: Step, number: int = 0, count: int = 1) -> None:
        self.root, self.step = root, step
        self.number, self.count = number, count

    def tables(self, name: str) -> Iterator[pa.Table]:
        """This shard's partitions of the input `name`, in order."""
        if name in self.step.own:
            return iter([_healthy(paths(self.root, self.step.own[name])[self.number])])
        everything = paths(self.root, self.step.sharded[name])
        mine = everything if self.step.pinned else everything[self.number :: self.count]
        return (_healthy(path) for path in mine)

    def table(self, name: str) -> pa.Table:
        """The whole of the input `name`."""
        return pa.concat_tables(read(path) for path in paths(self.root, self.step.whole[name]))


def _healthy(path: str) -> pa.Table:
    """A partition without its column of errors: what failed is null in the others."""
    table = read(path)
    return table.drop_columns("error") if "error" in table.column_names else table
