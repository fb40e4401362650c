"""What one stage found, as a rank for every passage; and how much of it a cutoff takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rayeval.columns import Floats, Ints, combined, flatten
from rayeval.errors import RowError
from rayeval.metrics.evidence import ints
from rayeval.metrics.names import Cutoff
from rayeval.metrics.relevance import Passages
from rayeval.metrics.spans import Bools

NEVER = np.iinfo(np.int64).max
"""The rank of what was not found."""
RANKED = pa.list_(pa.struct([("passage", pa.int32()), ("rank", pa.int32())]))
"""A stage's hits where only some are among the passages: which of them, and at which rank."""
RETURNED = ".returned"
"""The suffix of the column that then says how many hits there were in all."""


@dataclass(frozen=True)
class Ranking:
    """One stage's hits over a batch."""

    rank: Ints
    """(n_passages,): 1-based; NEVER where the stage did not find the passage."""
    row: Ints
    """(n_hits,), hits in order of rows and ranks."""
    passage: Ints
    """(n_hits,)"""
    returned: Ints
    """(n_rows,): how many hits."""


@dataclass(frozen=True)
class Cut:
    """How much of every row's ranking counts; arrays (n_rows,)."""

    limit: Ints
    """The last rank that counts."""
    taken: Ints
    """How many hits that is."""
    size: Ints
    """What precision divides by: k, or the hits taken under a token budget."""
    positions: int | None
    """The last position that counts; None: every one."""
    unknown: Bools
    """The budget can't be applied: a hit's tokens are not known."""


def ranking(batch: pa.Table, stage: str, passages: Passages) -> Ranking:
    """The hits in the column `stage`, HITS or RANKED; a null list is an empty one.

    Raises RowError if a hit is not among the passages.
    """
    row, hits = flatten(batch[stage])
    if batch.schema.field(stage).type == RANKED:
        return _ranked(row, hits, batch[f"{stage}{RETURNED}"], passages)
    passage = passages.index(row, hits.field("chunk_id"))
    if (passage < 0).any():
        first = int(np.argmax(passage < 0))
        raise RowError(
            f"question {batch['question_id'][int(row[first])].as_py()!r}: stage {stage!r} found "
            f"{hits[first]['chunk_id'].as_py()!r}, which is not among the question's passages; "
            "every hit's place must be in the column `passages`."
        )
    returned = np.bincount(row, minlength=batch.num_rows)
    rank = np.full(len(passages.row), NEVER)
    rank[passage] = np.arange(len(row)) - (np.cumsum(returned) - returned)[row] + 1
    return Ranking(rank, row, passage, returned)


def _ranked(row: Ints, hits: pa.Array, returned: pa.ChunkedArray, passages: Passages) -> Ranking:
    first = np.searchsorted(passages.row, np.arange(len(returned)))
    passage = first[row] + ints(hits.field("passage"), 0)
    rank = np.full(len(passages.row), NEVER)
    rank[passage] = ints(hits.field("rank"), 0)
    return Ranking(rank, row, passage, ints(combined(returned), 0))


def cut(found: Ranking, passages: Passages, cutoff: Cutoff) -> Cut:
    """What of a ranking is within `cutoff`.

    A token budget takes hits in order while their tokens sum to no more than it.
    """
    n_rows = len(found.returned)
    if not cutoff.tokens:
        k = np.full(n_rows, cutoff.size, np.int64)
        taken = np.minimum(found.returned, k)
        return Cut(k, taken, k, cutoff.size, np.zeros(n_rows, bool))
    tokens = ints(passages.items.field("tokens"), -1)[found.passage]
    total = np.cumsum(np.maximum(tokens, 0))
    before = np.append(0, total)[np.cumsum(found.returned) - found.returned]
    inside = total - before[found.row] <= cutoff.size
    taken = np.bincount(found.row[inside], minlength=n_rows)
    unknown = np.bincount(found.row[inside & (tokens < 0)], minlength=n_rows) > 0
    return Cut(taken, taken, taken, None, unknown)


def first_ranks(rank: Ints, passage: Ints, item: Ints, n_items: int) -> Ints:
    """(n_items,): rank of the first hit that has each item; NEVER where none has.

    rank: (n_passages,). passage, item: (n_pairs,), which passage has which item.
    """
    first = np.full(n_items, NEVER)
    np.minimum.at(first, item, rank[passage])
    return first


def tally(row: Ints, flags: Bools, n_rows: int) -> Ints:
    """(n_rows,): how many of each row's items are flagged."""
    return np.bincount(row[flags], minlength=n_rows)


def share(part: Ints | Floats, whole: Ints | Floats) -> Floats:
    """`part` / `whole`, NaN where there is nothing to divide by."""
    undefined: Floats = np.full(len(whole), np.nan)
    return np.divide(part, whole, out=undefined, where=whole > 0)
