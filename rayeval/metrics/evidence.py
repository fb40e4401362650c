"""A batch's evidence and its groups as flat arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Ints, flatten
from rayeval.metrics.spans import Bools


@dataclass(frozen=True)
class Evidence:
    """Every evidence of a batch, row after row; arrays (n_evidence,), but `groups`."""

    row: Ints
    items: pa.Array
    """The LOCATED structs."""
    missing: Bools
    """Its source or revision is not in the corpus."""
    visible: Bools
    grade: Ints
    gold: Bools
    whole: Bools
    """Only a passage that holds all of it finds it."""
    group: Ints
    """Code of its group."""
    counts: Bools
    """What finds it finds its group: gold; in a group without gold, a positive grade."""
    groups: Groups


@dataclass(frozen=True)
class Groups:
    """The groups of a batch, in evidence order, row after row; arrays (n_groups,)."""

    row: Ints
    group_id: pa.Array
    gold: Bools
    """It has gold: the question needs it."""
    grade: Ints
    """Of its best evidence that the asker may see; 0 where there is none."""


def evidence_of(column: pa.ChunkedArray | pa.Array) -> Evidence:
    """The evidence in a column of lists of LOCATED."""
    row, items = flatten(column)
    visible, gold = bools(items.field("visible"), True), bools(items.field("gold"), False)
    grade = np.where(visible, ints(items.field("relevance"), 0), 0)
    group, first = _group_codes(row, items.field("group_id"))
    groups = Groups(
        row=row[first],
        group_id=items.field("group_id").take(pa.array(first)),
        gold=np.bincount(group[gold], minlength=len(first)) > 0,
        grade=_best(grade, group, len(first)),
    )
    return Evidence(
        row=row,
        items=items,
        missing=bools(pc.starts_with(items.field("found"), "missing"), False),
        visible=visible,
        grade=grade,
        gold=gold,
        whole=bools(items.field("whole"), False),
        group=group,
        counts=np.where(groups.gold[group], gold, grade >= 1),
        groups=groups,
    )


def _group_codes(row: Ints, group_ids: pa.Array) -> tuple[Ints, Ints]:
    """(code of every evidence's group, first evidence of every group), in evidence order."""
    names = group_ids.dictionary_encode()
    name = ints(names.indices, len(names.dictionary))
    keys = pa.array(row * (len(names.dictionary) + 1) + name).dictionary_encode()
    group = ints(keys.indices, 0)
    _, first = np.unique(group, return_index=True)
    return group, first.astype(np.int64)


def _best(grade: Ints, group: Ints, n_groups: int) -> Ints:
    best = np.zeros(n_groups, np.int64)
    np.maximum.at(best, group, grade)
    return best


def ints(array: pa.Array, default: int) -> Ints:
    """Whole numbers, null as `default`."""
    values: Ints = array.fill_null(default).to_numpy(zero_copy_only=False).astype(np.int64)
    return values


def bools(array: pa.Array, default: bool) -> Bools:
    """Truth values, null as `default`."""
    values: Bools = array.fill_null(default).to_numpy(zero_copy_only=False)
    return values
