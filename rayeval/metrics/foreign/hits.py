"""The hits of a batch of questions as flat arrays, whichever fields their tool wrote."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Floats, Ints, combined
from rayeval.metrics.evidence import bools
from rayeval.metrics.spans import Bools
from rayeval.tables import FOREIGN_HIT, TEXT

GOLDEN_RATIO = np.uint64(0x9E3779B97F4A7C15)
Hashes = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.int32]
"""Of hits: half the memory of Ints, which is most of the time."""


@dataclass(frozen=True)
class Hits:
    """Every hit of a batch, list after list; arrays (n_hits,)."""

    table: pa.Table
    """The trace's rows, by question."""
    question: Ints
    """(n_lists,): which question of the batch each list is of."""
    stage: Ints
    """(n_lists,): which of the stages; -1 where a row is of none of them."""
    length: Ints
    """(n_lists,): how many hits each list has."""
    list: Numbers
    """Which list a hit is in."""
    items: pa.StructArray
    ranks: Numbers | None = None
    """Where they stood in their lists, from 1; None: where they stand here."""

    @cached_property
    def row(self) -> Ints:
        """The question of every hit."""
        return self.question[self.list]

    def rows(self, which: Ints) -> Ints:
        """The questions of some hits."""
        return self.question[self.list[which]]

    def rank(self, which: Ints) -> Numbers:
        """Where some hits stood in their lists, from 1."""
        if self.ranks is not None:
            return self.ranks[which]
        before = np.cumsum(self.length) - self.length
        return (which - before[self.list[which]] + 1).astype(np.int32)

    @cached_property
    def in_stage(self) -> Ints:
        """The stage of every hit."""
        return self.stage[self.list]

    def has(self, name: str) -> bool:
        """Whether any hit has the field."""
        index = self.items.type.get_field_index(name)
        return index >= 0 and bool(self.items.field(index).null_count < len(self.items))

    def field(self, name: str) -> pa.Array:
        """The field of every hit, null where it was not written."""
        kind = FOREIGN_HIT.field(name).type
        if self.items.type.get_field_index(name) < 0:
            return pa.nulls(len(self.items), kind)
        values = self.items.field(name)
        values = values if values.type == kind else values.cast(kind)
        return _without_empty(values) if name == "spans" else values

    @cached_property
    def score(self) -> Floats:
        """NaN where there is none."""
        return np.asarray(self.field("score"), np.float64)

    @cached_property
    def _hashed(self) -> dict[str, Hashes]:
        return {}

    def hashes(self, name: str) -> Hashes:
        """(n_hits,): 64 bits of a field's text."""
        if name not in self._hashed:
            self._hashed[name] = hashed(self.field(name))
        return self._hashed[name]

    def take(self, which: Ints) -> Hits:
        """Some of the hits, in this order; ranks stay."""
        items = self.items.take(pa.array(which))
        return replace(self, list=self.list[which], ranks=self.rank(which), items=items)

    def with_fields(self, fields: Mapping[str, pa.Array]) -> Hits:
        """The hits with other values in some of their fields."""
        every = [fields[f.name] if f.name in fields else self.field(f.name) for f in FOREIGN_HIT]
        return replace(self, items=pa.StructArray.from_arrays(every, fields=list(FOREIGN_HIT)))

    def name(self, at: int) -> str:
        """The id of the question of a hit."""
        return str(self.table["question_id"][int(self.list[at])].as_py())


def hits_of(table: pa.Table, question_ids: pa.Array, stages: Sequence[str]) -> Hits:
    """The hits in the rows of a trace.

    table: `question_id, stage, hits`, and what FOREIGN has besides. question_ids: the batch's.
    Rows of other questions are left out.
    """
    question = _index(combined(table["question_id"]), question_ids)
    order = np.argsort(question, kind="stable")
    order = order[question[order] >= 0]
    if len(order) < table.num_rows or (np.diff(order) != 1).any():
        table, question = table.take(pa.array(order)), question[order]
    stage = _index(combined(table["stage"]), pa.array(stages, table["stage"].type))
    column = table["hits"] if "hits" in table.column_names else pa.nulls(0, pa.list_(FOREIGN_HIT))
    items = pc.list_flatten(combined(column))
    if not pa.types.is_struct(items.type):
        items = pa.StructArray.from_arrays([items], ["text"])
    length = np.asarray(pc.fill_null(pc.list_value_length(combined(column)), 0)).astype(np.int64)
    within = np.repeat(np.arange(len(length), dtype=np.int32), length)
    return Hits(table, question, stage, length, within, items)


def by_score(hits: Hits) -> Hits:
    """Every list ordered by (-score, chunk_id), hits without a score last."""
    frame = pl.DataFrame(
        {"list": hits.list, "score": hits.score, "id": pl.Series(hits.field("chunk_id"))}
    )
    frame = frame.with_columns(pl.col("score").fill_nan(None)).with_row_index("at")
    order = frame.sort(
        "list", "score", "id", "at", descending=[False, True, False, False], nulls_last=True
    )
    sorted_ = hits.take(order["at"].to_numpy().astype(np.int64))
    return replace(sorted_, ranks=hits.ranks)


def apart(hashes: Hashes, owner: Ints, of: Numbers | None = None) -> Hashes:
    """Hashes of (what was hashed, its owner).

    owner: (n,), or of some lists; then `of` says which list each is in, (n,).
    """
    salt = owner.astype(np.uint64) * GOLDEN_RATIO
    keys = salt if of is None else salt[of]
    keys += hashes
    return keys


def _without_empty(spans: pa.Array) -> pa.Array:
    """An empty list of spans says as little as none."""
    empty = pc.equal(pc.list_value_length(spans), 0)
    return pc.if_else(empty, None, spans) if pc.any(empty).as_py() else spans


def whole(hits: Hits) -> Bools:
    """(n_hits,): neither spans nor text, so the whole document (or a chunk known elsewhere)."""
    bare = np.ones(len(hits.list), bool)
    for name in ("spans", "text"):
        if hits.has(name):
            bare &= bools(hits.field(name).is_null(), True)
    return bare


def hashed(ids: pa.Array) -> Hashes:
    """64 bits of every id, the same for the same id within a process; null is one too.

    Ids that are a dictionary have the hashes of their text.
    """
    if pa.types.is_dictionary(ids.type):
        of_each = hashed(pa.concat_arrays([text(ids.dictionary), pa.nulls(1, TEXT)]))
        at: Ints = ids.indices.fill_null(-1).to_numpy()
        return of_each[at]
    shared = ids.cast(pa.string_view())  # as polars has text: nothing is copied
    hashes: Hashes = pl.Series(shared).hash().to_numpy()
    return hashes


def text(ids: pa.Array) -> pa.Array:
    """Ids as text, be they a dictionary."""
    return ids if ids.type == TEXT else ids.cast(TEXT)


def _index(values: pa.Array, among: pa.Array) -> Ints:
    found = pc.index_in(values, value_set=among)
    return np.asarray(pc.fill_null(found, -1)).astype(np.int64)
