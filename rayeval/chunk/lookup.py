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
from rayeval.tables import LOCATED, PLACE, TEXT

_CANDIDATE = pa.struct([("chunk_id", TEXT), ("text", TEXT)])


@dataclass(frozen=True)
class Passages:
    """Where the hits of some columns lie: `name` (tables.PASSAGES), each chunk once.

    columns: lists of structs with `chunk_id`. foreign: lists of CHUNK, passages that are no chunks
    of the corpus and come with the batch.
    """

    columns: tuple[str, ...]
    foreign: tuple[str, ...] = ()
    name: str = "passages"

    def load(self, shard: Shard) -> Stage:
        """Answers for the chunks of one shard."""
        owned = Owned(shard, [field.name for field in PLACE])

        def found(batch: pa.Table) -> tuple[Ints, Ints]:
            hits = [flatten(batch[name]) for name in self.columns]
            rows = np.concatenate([rows for rows, _ in hits])
            return owned.find(
                rows, pa.concat_arrays([items.field("chunk_id") for _, items in hits])
            )

        def further(batch: pa.Table) -> tuple[Ints, pa.Array]:
            return brought(batch, self.foreign, PLACE)

        mine = further if shard.number == 0 and self.foreign else None
        return _Lookup(self.name, found, lambda places: owned.structs(places, PLACE), mine)

    def gather(self, parts: Sequence[pa.Table]) -> pa.Table:
        """The shards' answers as one."""
        return _gathered(self.name, parts)


@dataclass(frozen=True)
class Candidates:
    """What the best hits of one HITS column say: `candidates`, list of (chunk_id, text).

    depth: how many hits; None: all. foreign: as for `Passages`.
    """

    column: str
    depth: int | None
    foreign: tuple[str, ...] = ()

    def load(self, shard: Shard) -> Stage:
        """Answers for the chunks of one shard."""
        owned = Owned(shard, [field.name for field in _CANDIDATE])

        def best(batch: pa.Table) -> tuple[Ints, pa.Array]:
            hits = combined(batch[self.column])
            rows, items = flatten(
                hits if self.depth is None else pc.list_slice(hits, 0, self.depth)
            )
            return rows, items.field("chunk_id")

        def further(batch: pa.Table) -> tuple[Ints, pa.Array]:
            rows, items = brought(batch, self.foreign, _CANDIDATE)
            there = _keys(rows, items.field("chunk_id")).with_row_index("item")
            wanted = there.join(_keys(*best(batch)), on=["row", "id"], how="semi").sort("item")
            return wanted["row"].to_numpy(), items.take(wanted["item"].to_arrow())

        mine = further if shard.number == 0 and self.foreign else None
        return _Lookup(
            "candidates",
            lambda batch: owned.find(*best(batch)),
            lambda places: owned.structs(places, _CANDIDATE),
            mine,
        )

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
    further: (rows, items) that the batch brings with it, which one of the shards answers with.
    """

    name: str
    found: Callable[[pa.Table], tuple[Ints, Ints]]
    items: Callable[[Ints], pa.Array]
    further: Callable[[pa.Table], tuple[Ints, pa.Array]] | None = None

    def __call__(self, batch: pa.Table) -> pa.Table:
        rows, places = self.found(batch)
        items = self.items(places)
        if self.further is not None:
            more, others = self.further(batch)
            rows, items = np.concatenate([rows, more]), pa.concat_arrays([items, others])
        return _answer(self.name, rows, items, batch.num_rows)


def brought(batch: pa.Table, columns: Sequence[str], type_: pa.StructType) -> tuple[Ints, pa.Array]:
    """(rows, items) of some columns with lists of CHUNK, as structs of what `type_` names."""
    flat = [flatten(batch[name]) for name in columns]
    items = [
        pa.StructArray.from_arrays([item.field(f.name) for f in type_], fields=list(type_))
        for _, item in flat
    ]
    return np.concatenate([rows for rows, _ in flat]), pa.concat_arrays(items)


def _keys(rows: Ints, ids: pa.Array) -> pl.DataFrame:
    return pl.DataFrame({"row": rows, "id": pl.Series(ids, dtype=pl.String)})


def _answer(name: str, rows: Ints, items: pa.Array, n_rows: int) -> pa.Table:
    """A table of the list column `name`; rows, items: (n_items,), in any order, a chunk of a row
    twice where two systems found it."""
    keys = _keys(rows, items.field("chunk_id")).with_row_index("item")
    once = keys.unique(["row", "id"], keep="first", maintain_order=True)
    once = once.sort("row", "id")
    rows, order = once["row"].to_numpy(), once["item"].to_numpy()
    return pa.table({name: lists(rows, items.take(pa.array(order)), n_rows)})


def _gathered(name: str, parts: Sequence[pa.Table]) -> pa.Table:
    """The shards' lists joined row by row."""
    rows, items = zip(*(flatten(part[name]) for part in parts), strict=True)
    return _answer(name, np.concatenate(rows), pa.concat_arrays(items), parts[0].num_rows)
