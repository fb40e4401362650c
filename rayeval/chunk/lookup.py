"""Chunks looked up over the shards of a corpus: where hits lie, what they say, what holds gold.

Each lookup gives one list column, a row per batch row, its items by chunk_id. A chunk lives in
one shard, so joining the shards' lists is all there is to gather.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.chunk.neighbours import Neighbours as Around
from rayeval.chunk.owned import Owned, Places
from rayeval.columns import Ints, combined, flatten, lists
from rayeval.stage import Shard, Stage
from rayeval.tables import HIT, LOCATED, PLACE, TEXT

_CANDIDATE = pa.struct([("chunk_id", TEXT), ("text", TEXT)])


@dataclass(frozen=True)
class Passages:
    """Where the hits of some HITS columns lie: `passages` (tables.PASSAGES), each chunk once."""

    columns: tuple[str, ...]

    def load(self, shard: Shard) -> Stage:
        """Answers for the chunks of one shard."""
        owned = Owned(shard, [field.name for field in PLACE])

        def found(batch: pa.Table) -> tuple[Ints, Ints]:
            hits = [flatten(batch[name].cast(pa.list_(HIT))) for name in self.columns]
            rows = np.concatenate([rows for rows, _ in hits])
            return owned.find(
                rows, pa.concat_arrays([items.field("chunk_id") for _, items in hits])
            )

        return _Lookup("passages", found, lambda places: owned.structs(places, PLACE))

    def gather(self, parts: Sequence[pa.Table]) -> pa.Table:
        """The shards' answers as one."""
        return _gathered("passages", parts)


@dataclass(frozen=True)
class Candidates:
    """What the best hits of one HITS column say: `candidates`, list of (chunk_id, text)."""

    column: str
    depth: int

    def load(self, shard: Shard) -> Stage:
        """Answers for the chunks of one shard."""
        owned = Owned(shard, [field.name for field in _CANDIDATE])

        def found(batch: pa.Table) -> tuple[Ints, Ints]:
            best = pc.list_slice(combined(batch[self.column]), 0, self.depth)
            rows, hits = flatten(best)
            return owned.find(rows, hits.field("chunk_id"))

        return _Lookup("candidates", found, lambda places: owned.structs(places, _CANDIDATE))

    def gather(self, parts: Sequence[pa.Table]) -> pa.Table:
        """The shards' answers as one."""
        return _gathered("candidates", parts)


@dataclass(frozen=True)
class GoldChunks:
    """Every chunk that shares a character with gold evidence: `gold_chunks`, list of PLACE.

    The batch has `evidence`, a list of LOCATED.
    """

    def load(self, shard: Shard) -> Stage:
        """Answers for the chunks of one shard."""
        owned = Owned(shard, [field.name for field in PLACE])
        places = Places(owned.table)

        def found(batch: pa.Table) -> tuple[Ints, Ints]:
            rows, evidence = flatten(batch["evidence"])
            fields = dict(zip((f.name for f in LOCATED), evidence.flatten(), strict=True))
            spans = pc.if_else(pc.fill_null(fields["gold"], False), fields["spans"], None)
            owner, ranges = flatten(spans)
            starts, ends = (np.asarray(field, np.int64) for field in ranges.flatten())
            document = {n: fields[n].take(pa.array(owner)) for n in ("source_id", "revision_id")}
            which, chunks = places.overlapping(pa.table(document), starts, ends)
            pairs = pl.DataFrame({"row": rows[owner[which]], "place": chunks}).unique()
            return pairs["row"].to_numpy(), pairs["place"].to_numpy()

        return _Lookup("gold_chunks", found, lambda places: owned.structs(places, PLACE))

    def gather(self, parts: Sequence[pa.Table]) -> pa.Table:
        """The shards' answers as one."""
        return _gathered("gold_chunks", parts)


@dataclass(frozen=True)
class Neighbours:
    """Texts of chunks, alone and joined with the one before and after: `neighbours`.

    The batch has `wanted`, a list of chunk ids. Gives a list of NEIGHBOUR.
    """

    def load(self, shard: Shard) -> Stage:
        """Answers for the chunks of one shard, which has whole documents."""
        columns = ("chunk_id", "source_id", "revision_id", "spans", "text")
        owned = Owned(shard, columns)
        return _Lookup(
            "neighbours",
            lambda batch: owned.find(*flatten(batch["wanted"])),
            Around(owned.table).around,
        )

    def gather(self, parts: Sequence[pa.Table]) -> pa.Table:
        """The shards' answers as one."""
        return _gathered("neighbours", parts)


@dataclass(frozen=True)
class _Lookup:
    """One shard's answers.

    found: the (rows, places) of what a batch asks for; items: what stands at those places.
    """

    name: str
    found: Callable[[pa.Table], tuple[Ints, Ints]]
    items: Callable[[Ints], pa.Array]

    def __call__(self, batch: pa.Table) -> pa.Table:
        rows, places = self.found(batch)
        return _answer(self.name, rows, self.items(places), batch.num_rows)


def _answer(name: str, rows: Ints, items: pa.Array, n_rows: int) -> pa.Table:
    """A table of the list column `name`; rows, items: (n_items,), in any order."""
    keys = pl.DataFrame({"row": rows, "id": pl.Series(items.field("chunk_id"), dtype=pl.String)})
    order = keys.select(pl.arg_sort_by("row", "id")).to_series().to_numpy()
    return pa.table({name: lists(rows[order], items.take(pa.array(order)), n_rows)})


def _gathered(name: str, parts: Sequence[pa.Table]) -> pa.Table:
    """The shards' lists joined row by row."""
    rows, items = zip(*(flatten(part[name]) for part in parts), strict=True)
    return _answer(name, np.concatenate(rows), pa.concat_arrays(items), parts[0].num_rows)
