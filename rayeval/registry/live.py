"""Live systems: asked, and what they found put in place."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from rayeval.chunk import tokens
from rayeval.chunk.lookup import Passages as Own
from rayeval.chunk.tokens import Tokenizer
from rayeval.golden.placing import Placing
from rayeval.live.log import Log, Nothing, log_in
from rayeval.retrieve.foreign import search
from rayeval.retrieve.foreign.config import HttpArm, PythonArm
from rayeval.retrieve.foreign.passages import Passages
from rayeval.stage import Shard, Stage

Live = HttpArm | PythonArm


def asking(config: Live, requests: str | None, shard: Shard) -> Stage:
    """Questions → what the system finds.

    requests: the log of answers, below the store; None: ask, and keep nothing.
    """
    return search.build(config, request_log(requests, shard))


def request_log(requests: str | None, shard: Shard) -> Log:
    """The log called `requests` in the store."""
    return Nothing() if requests is None else log_in(f"{shard.root}/requests/{requests}")


def limits(shard: Shard) -> str:
    """The folder in the store of what endpoints allow a minute."""
    return limits_in(shard.root)


def limits_in(root: str) -> str:
    """The same of a store."""
    return f"{root}/requests/limits"


class Placed:
    """Where hits lie: `spots`, their places in documents, and `own`, the chunks that have their
    ids. A scatter over documents, elements and chunks."""

    def __init__(self) -> None:
        self._parts = (Placing(), Own(("found",), name="own"))

    def load(self, shard: Shard) -> Stage:
        """What answers for one shard."""
        stages = [part.load(shard) for part in self._parts]

        def answer(batch: pa.Table) -> pa.Table:
            spots, own = (stage(batch) for stage in stages)
            return spots.append_column("own", own["own"])

        return answer

    def gather(self, parts: Sequence[pa.Table]) -> pa.Table:
        """The shards' answers as one."""
        spots, own = (part.gather(parts) for part in self._parts)
        return spots.append_column("own", own["own"])


def placed(tokenizer: Tokenizer, shard: Shard) -> Stage:
    """Hits and their places → the run's own ids and passages."""
    counter = tokens.build(tokenizer)
    return Passages(counter.counts)
