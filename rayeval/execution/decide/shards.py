"""Two runs that are too large to be held, shard by shard (DESIGN §§8, 11).

A shard is a range of question ids. Whoever computes it reads just these rows of both runs, and
what comes back is sums, counts and a bounded number of rows: nothing of the size of a run's tables
is held anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rayeval import files
from rayeval.columns import Floats
from rayeval.comparison.deltas import SCHEMA, Block, layout
from rayeval.comparison.pairs import Pairs, pair
from rayeval.comparison.poisson import deltas_of, share
from rayeval.comparison.ranks import ranks_and_unjudged
from rayeval.comparison.transitions import transitions
from rayeval.execution import parquet
from rayeval.execution.executor import Executor
from rayeval.execution.runs import Run
from rayeval.execution.stored import damaged
from rayeval.report import whole
from rayeval.report.whole import Whole, whole_of

QUESTIONS = 4096
"""To a shard."""
GROUPS = 16
"""Tasks that go through shards and send one answer each, for what is listed by question."""
LARGEST = 1 << 30
"""Values of both runs; with more (8 GiB) they are not gathered any more."""
PARTS = ("questions", "per_query", "failures")
"""The tables that a shard reads its rows of; the others are asked for by id."""
Range = tuple[str, str, str, str, bool]
"""The paths of base and new, the first and last question id; without what either trace lacks."""


class Excerpt(Run):
    """The questions of a run from id `first` to id `last`."""

    def __init__(self, path: str, first: str, last: str) -> None:
        super().__init__(path)
        self.inside = parquet.between("question_id", first, last)

    def _table(self, name: str) -> pl.DataFrame:
        if name not in PARTS:
            return super()._table(name)
        return self._read(name, lambda path: parquet.read(path, None, self.inside))

    def _within(self, where: pc.Expression | None = None) -> pc.Expression:
        return self.inside if where is None else self.inside & where


@dataclass(frozen=True)
class Listed:
    """What is told of questions one by one, and in counts of all of them."""

    transitions: pl.DataFrame
    ranks: pl.DataFrame
    unjudged: pl.DataFrame
    whole: Whole


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
    blocks = layout(pairs, in_slices)
    if not blocks:
        return pl.DataFrame(schema=SCHEMA)
    total = executor.total(partial(_share, blocks, seed, count), _ranges(pairs, size))
    return deltas_of(total, pairs, blocks, count=count)


def sharded_lists(pairs: Pairs, executor: Executor, *, size: int = QUESTIONS) -> Listed:
    """Counts of all questions, and those that matter most; the same by any size of shards."""
    ranges = _ranges(pairs, size)
    step = -(-len(ranges) // GROUPS)
    groups = [ranges[at : at + step] for at in range(0, len(ranges), step)]
    return _together(executor.call(_lists, groups))


def listed(pairs: Pairs) -> Listed:
    """Of every question, however many they are."""
    moved = transitions(pairs)
    ranks, unjudged = ranks_and_unjudged(pairs)
    slices = pairs.questions.select("question_id", "slices")
    return Listed(moved, ranks, unjudged, whole_of(moved, ranks, unjudged, slices))


def _ranges(pairs: Pairs, size: int) -> list[Range]:
    ids, sides = pairs.base.ids, (pairs.base, pairs.new)
    before, after = (files.absolute(side.run.path) for side in sides)
    cuts = range(0, len(ids), size)
    ends = [(ids[at], ids[min(at + size, len(ids)) - 1]) for at in cuts]
    return [(before, after, first, last, pairs.shared) for first, last in ends]


def _pairs(part: Range) -> Pairs:
    base, new, first, last, shared = part
    sides = Excerpt(base, first, last), Excerpt(new, first, last)
    return pair(*sides, shared=shared)


def _share(blocks: Sequence[Block], seed: int, count: int, part: Range) -> Floats:
    return share(_pairs(part), blocks, seed=seed, count=count)


def _lists(parts: Sequence[Range]) -> Listed:
    """Of shards that follow one another; one is held at a time."""
    found = _shard(parts[0])
    for part in parts[1:]:
        found = _together([found, _shard(part)])
    return found


def _shard(part: Range) -> Listed:
    return _together([listed(_pairs(part))])


def _together(parts: Sequence[Listed]) -> Listed:
    """Of all parts, which are in the order of their ids."""
    return Listed(
        whole.worst_transitions(pl.concat(part.transitions for part in parts)),
        whole.farthest_ranks(pl.concat(part.ranks for part in parts)),
        whole.nearest_unjudged(pl.concat(part.unjudged for part in parts)),
        whole.merged([part.whole for part in parts]),
    )


def _values(path: str) -> int:
    fs, inner = files.open_fs(f"{path}/per_query.parquet")
    try:
        metadata = pq.read_metadata(inner, filesystem=fs)
    except (FileNotFoundError, pa.ArrowInvalid) as error:
        raise damaged(path, f"per_query.parquet can't be read: {error}") from error
    return int(metadata.num_rows * metadata.num_columns)
