"""Differences of two runs that are too large to be held: shard by shard, added up (DESIGN §§8, 11).

A shard is a range of question ids. Whoever computes it reads just these rows of both runs, so
nothing of the size of `per_query` is held anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow.dataset import dataset

from rayeval import files
from rayeval.columns import Floats
from rayeval.comparison.deltas import SCHEMA, Block, layout
from rayeval.comparison.pairs import Pairs, pair
from rayeval.comparison.poisson import deltas_of, share
from rayeval.execution.executor import Executor
from rayeval.execution.runs import Run, damaged
from rayeval.tables import TEXT

QUESTIONS = 4096
"""To a shard."""
LARGEST = 1 << 30
"""Values of both runs; with more (8 GiB) they are not gathered any more."""
READ = {"questions": ["question_id", "cluster", "slices"], "per_query": None}
"""The tables that a shard reads its rows of, and which columns; None: all."""
Range = tuple[str, str, str, str]
"""The paths of base and new, the first and last question id."""


class Excerpt(Run):
    """The questions of a run from id `first` to id `last`."""

    def __init__(self, path: str, first: str, last: str) -> None:
        super().__init__(path)
        name = pc.field("question_id")
        self.inside = (name >= pa.scalar(first, TEXT)) & (name <= pa.scalar(last, TEXT))

    def _table(self, name: str) -> pl.DataFrame:
        if name not in READ:
            return super()._table(name)
        fs, inner = files.open_fs(f"{self.path}/{name}.parquet")
        try:
            found = dataset(inner, filesystem=fs, format="parquet")
            return pl.DataFrame(found.to_table(filter=self.inside, columns=READ[name]))
        except (FileNotFoundError, pa.ArrowInvalid) as error:
            raise damaged(self.path, f"{name}.parquet can't be read: {error}") from error


def too_large(pairs: Pairs) -> bool:
    """Whether the values of both runs are too many to be gathered."""
    return sum(_values(side.run.path) for side in (pairs.base, pairs.new)) > LARGEST


def sharded_deltas(
    pairs: Pairs,
    in_slices: Sequence[str] | None,
    executor: Executor,
    *,
    seed: int,
    count: int,
    size: int = QUESTIONS,
) -> pl.DataFrame:
    """As `comparison.deltas.deltas`, by Poisson sums. size: questions to a shard."""
    ids, sides = pairs.base.ids, (pairs.base, pairs.new)
    before, after = (files.absolute(side.run.path) for side in sides)
    cuts = range(0, len(ids), size)
    ranges = [(before, after, ids[at], ids[min(at + size, len(ids)) - 1]) for at in cuts]
    blocks = layout(pairs, in_slices)
    if not blocks:
        return pl.DataFrame(schema=SCHEMA)
    total = executor.total(partial(_share, blocks, seed, count), ranges)
    return deltas_of(total, pairs, blocks, count=count)


def _share(blocks: Sequence[Block], seed: int, count: int, part: Range) -> Floats:
    base, new, first, last = part
    pairs = pair(Excerpt(base, first, last), Excerpt(new, first, last), shared=True)
    return share(pairs, blocks, seed=seed, count=count)


def _values(path: str) -> int:
    fs, inner = files.open_fs(f"{path}/per_query.parquet")
    try:
        metadata = pq.read_metadata(inner, filesystem=fs)
    except (FileNotFoundError, pa.ArrowInvalid) as error:
        raise damaged(path, f"per_query.parquet can't be read: {error}") from error
    return int(metadata.num_rows * metadata.num_columns)
