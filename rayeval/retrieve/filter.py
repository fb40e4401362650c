"""Which chunks a question may find: what its asker may see, and what is valid today."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import Field

from rayeval.columns import Ints, combined, flatten, lists
from rayeval.stage import Shard, Stage, StageConfig
from rayeval.tables import CATALOGUE, CHUNKS, TEXTS, empty

Mask = npt.NDArray[np.bool_]

METADATA = pa.schema([CHUNKS.field(n) for n in ("chunk_id", "source_id", "revision_id", "access")])
"""What a filter needs to know of a chunk."""


class Filter(StageConfig):
    """What is left out of every search, before its depth is filled."""

    access: bool = Field(False, description="only chunks that the asker's principals may see")
    current: bool = Field(False, description="only revisions valid at `as_of`, none deleted")


class Visibility:
    """Which of a shard's chunks each asker may find.

    chunks: the shard's chunks in its order, with the columns METADATA; an empty access list means
    everyone. catalogue: CATALOGUE; a document that it lacks is not current.
    """

    def __init__(self, config: Filter, chunks: pa.Table, catalogue: pa.Table) -> None:
        self.size = chunks.num_rows
        self.fresh = _current(chunks, catalogue) if config.current else np.ones(self.size, bool)
        """(n_chunks,): valid at `as_of`; all where the filter doesn't ask."""
        rows, names = flatten(chunks["access"] if config.access else pa.nulls(self.size, TEXTS))
        encoded = names.dictionary_encode()
        self._restricted = rows
        self._grants = encoded.indices.to_numpy()
        self._principals = encoded.dictionary

    @classmethod
    def of(cls, config: Filter, shard: Shard, chunk_ids: pa.Array) -> Visibility:
        """Over the chunks of `shard`, in the order of `chunk_ids`."""
        if not (config.access or config.current):  # spares reading the chunks
            return cls(config, pa.table({"chunk_id": chunk_ids}), empty(CATALOGUE))
        chunks = metadata(shard)
        order = pc.index_in(chunk_ids, value_set=combined(chunks["chunk_id"]))
        return cls(config, chunks.take(order), shard.table("catalogue"))

    def groups(self, principals: pa.ChunkedArray | pa.Array) -> tuple[Ints, list[Mask | None]]:
        """Askers who see the same chunks, together.

        principals: a list of text per row, in any order, possibly empty.
        Returns the group of every row, and per group its mask over the chunks, (n_chunks,), True
        where a chunk may be found; None where all may.
        """
        group, permitted = self.permitted(principals)
        masks = [mask & self.fresh for mask in permitted]
        return group, [None if mask.all() else mask for mask in masks]

    def permitted(self, principals: pa.ChunkedArray | pa.Array) -> tuple[Ints, list[Mask]]:
        """`groups` by access alone: (group of every row, mask of every group)."""
        group, sets = self._distinct(principals)
        return group, [self._permits(known) for known in sets]

    def _permits(self, known: Ints) -> Mask:
        mask = np.ones(self.size, bool)
        mask[self._restricted] = False
        mask[self._restricted[np.isin(self._grants, known)]] = True
        return mask

    def _distinct(self, principals: pa.ChunkedArray | pa.Array) -> tuple[Ints, list[Ints]]:
        """(set of every row, distinct sets), as codes of those principals that a chunk names."""
        rows, names = flatten(principals)
        codes = pc.index_in(names, value_set=self._principals)
        named = pl.DataFrame({"row": rows, "code": pl.Series(codes)}).drop_nulls()
        keys = named.unique().sort("row", "code").group_by("row").agg(
            pl.col("code").cast(pl.String).str.join(",").alias("key")
        )  # fmt: skip
        every = pl.DataFrame({"row": np.arange(len(principals))}).join(
            keys, on="row", how="left", maintain_order="left"
        )
        distinct, group = np.unique(every["key"].fill_null("").to_numpy(), return_inverse=True)
        sets = [np.array([int(c) for c in key.split(",") if c], np.int64) for key in distinct]
        return group.astype(np.int64), sets


class FilterTrace:
    """What the filter removes from every question's search: a scatter over chunks.

    Batch: `principals` (list of text), `gold_chunks` (list of structs with `chunk_id`).
    Result, a row per question: `removed_access` (chunks that the asker may not see),
    `removed_stale` (of the others, those that are not current) and `removed_gold` (ids of the gold
    chunks among both, sorted).
    """

    def __init__(self, config: Filter) -> None:
        self.config = config

    def load(self, shard: Shard) -> Stage:
        """What answers for the chunks of `shard`."""
        return _Removed(self.config, metadata(shard), shard.table("catalogue"))

    def gather(self, parts: Sequence[pa.Table]) -> pa.Table:
        """Counts added up, ids put together."""
        counts = {
            name: np.sum([part[name].to_numpy() for part in parts], axis=0)
            for name in ("removed_access", "removed_stale")
        }
        flat = [flatten(part["removed_gold"]) for part in parts]
        rows = np.concatenate([row for row, _ in flat])
        gold = _sorted(rows, pa.concat_arrays([ids for _, ids in flat]), parts[0].num_rows)
        return pa.table({**counts, "removed_gold": gold})


class _Removed:
    def __init__(self, config: Filter, chunks: pa.Table, catalogue: pa.Table) -> None:
        self.visibility = Visibility(config, chunks, catalogue)
        self.chunk_ids = combined(chunks["chunk_id"])

    def __call__(self, batch: pa.Table) -> pa.Table:
        group, permitted = self.visibility.permitted(batch["principals"])
        fresh = self.visibility.fresh
        counts = [((~mask).sum(), (mask & ~fresh).sum()) for mask in permitted]
        access, stale = np.array(counts, np.int64).reshape(-1, 2)[group].T
        rows, gold = flatten(batch["gold_chunks"])
        place = pc.index_in(gold.field("chunk_id"), value_set=self.chunk_ids)
        here = np.flatnonzero(place.is_valid())
        place = place.drop_null().to_numpy()
        found = np.zeros(len(here), bool)
        for number, mask in enumerate(permitted):
            asked = group[rows[here]] == number
            found[asked] = (mask & fresh)[place[asked]]
        lost = here[~found]
        ids = gold.field("chunk_id").take(pa.array(lost))
        removed = {"removed_access": access, "removed_stale": stale}
        return pa.table({**removed, "removed_gold": _sorted(rows[lost], ids, batch.num_rows)})


def metadata(shard: Shard) -> pa.Table:
    """The METADATA of every chunk of `shard`, in its order."""
    parts = [part.select(METADATA.names) for part in shard.tables("chunks")]
    return pa.concat_tables([empty(METADATA), *parts])


def _current(chunks: pa.Table, catalogue: pa.Table) -> Mask:
    """(n_chunks,): whether the chunk's revision is the current one of its source."""
    key = ["source_id", "revision_id"]
    current = catalogue.filter(catalogue["current"]).select(key)
    rows = pl.DataFrame(chunks.select(key)).with_row_index("row")
    kept = rows.join(pl.DataFrame(current), on=key, how="semi", nulls_equal=True)["row"]
    mask = np.zeros(chunks.num_rows, bool)
    mask[kept.to_numpy()] = True
    return mask


def _sorted(rows: Ints, ids: pa.Array, n_rows: int) -> pa.Array:
    """`ids`, each of a row, as a list per row in code point order."""
    table = pa.table({"row": rows, "id": ids}).sort_by([("row", "ascending"), ("id", "ascending")])
    return lists(table["row"].to_numpy(), combined(table["id"]), n_rows)
