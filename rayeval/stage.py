"""What a stage is: a function of a batch, built from a configuration.

Any split of the rows into batches gives the same result, so whoever places stages (one process,
many, a Ray cluster) may choose batches and workers freely.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Protocol

import pyarrow as pa
from pydantic import BaseModel, ConfigDict


class StageConfig(BaseModel):
    """A stage's settings. Fields in `PLACEMENT` say where and how fast, never what."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    VERSION: ClassVar[int] = 1
    """Raised when the stage's code gives other results, so that stored outputs are made anew."""
    PLACEMENT: ClassVar[frozenset[str]] = frozenset()

    def identity(self) -> dict[str, Any]:
        """What decides the stage's output: every setting but placement, and the code's version."""
        return {**self.model_dump(mode="json", exclude=set(self.PLACEMENT)), "v": self.VERSION}


class Stage(Protocol):
    """A batch in, a batch out: a row per question (document, chunk), findings as list columns."""

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Raises RowError for what only a row is to blame for."""
        ...


class Shard(Protocol):
    """The inputs of one worker of a sharded stage."""

    number: int
    """Which shard this is, from 0; decides results only where shards are configuration (ANN)."""
    count: int
    """How many shards there are."""
    root: str
    """The store, where a stage may keep what must not be asked for twice."""

    def tables(self, name: str) -> Iterator[pa.Table]:
        """This shard's partitions of the input `name`, in order."""
        ...

    def table(self, name: str) -> pa.Table:
        """The whole of the input `name`: something reduced, never of corpus size."""
        ...


class Scatter(Protocol):
    """A batch put to every shard of the corpus, and the answers put together."""

    def load(self, shard: Shard) -> Stage:
        """What answers for one shard; built once per worker."""
        ...

    def gather(self, parts: Sequence[pa.Table]) -> pa.Table:
        """The shards' answers to one batch as one; associative, in any order."""
        ...
