"""Rows of several tables packed into one row per question, and taken out again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rayeval.columns import combined, flatten, lists
from rayeval.metrics.answers.scores import top_scores
from rayeval.stage import Shard, Stage


def packed(table: pa.Table, question_ids: pa.ChunkedArray) -> pa.Array:
    """The rows of every question as a list of structs; both by question id."""
    rows = np.asarray(in_place(question_ids, table["question_id"]))
    fields = [combined(table[name]) for name in table.column_names[1:]]
    items = pa.StructArray.from_arrays(fields, table.column_names[1:])
    return lists(rows, items, len(question_ids))


def in_place(question_ids: pa.ChunkedArray, wanted: pa.ChunkedArray) -> pa.Array:
    """Where each of the wanted questions stands."""
    found = pa.compute.index_in(combined(wanted), value_set=combined(question_ids))
    return found.cast(pa.int64())


def unpacked(column: str, names: Sequence[str], shard: Shard) -> Stage:
    """Lists of rows → the rows of a table."""
    return _Unpacked(column, tuple(names))


def trace_scores(shard: Shard) -> Stage:
    """The best hit's score of every stage in the kept trace."""
    return lambda batch: top_scores(_Unpacked("trace", ("stage", "hits"))(batch))


@dataclass(frozen=True)
class _Unpacked:
    column: str
    names: tuple[str, ...]

    def __call__(self, batch: pa.Table) -> pa.Table:
        rows, items = flatten(batch[self.column])
        ids = combined(batch["question_id"]).take(pa.array(rows))
        fields = dict(zip(items.type.names, items.flatten(), strict=True))
        return pa.table({"question_id": ids, **{name: fields[name] for name in self.names}})
