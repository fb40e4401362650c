"""Means over questions, overall and by slice, added up part by part (DESIGN §5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.answer_tables import VARIANTS
from rayeval.columns import Floats, Ints, combined, flatten
from rayeval.errors import RunError
from rayeval.metrics.answers.per_answer import UNJUDGED
from rayeval.metrics.evidence import bools, ints
from rayeval.metrics.names import Metric, parse
from rayeval.metrics.slices import slice_sets
from rayeval.metrics.spans import Bools
from rayeval.metrics.sums import exact_sums, mean
from rayeval.tables import TEXT

SYNTHETIC = "synthetic_unvalidated"
"""The slice of synthetic questions that nobody validated: outside every mean but its own."""

COUNTS = ("n", "n_undefined", "n_missing", "n_error")
_NUMBERS = [("mean", pa.float64()), *((name, pa.int64()) for name in COUNTS)]
AGGREGATE = pa.schema([("stage", TEXT), ("metric", TEXT), *_NUMBERS])
SLICES = pa.schema([("slice", TEXT), *AGGREGATE])


@dataclass(frozen=True)
class Sums:
    """The metrics of one stage, summed over questions."""

    totals: tuple[int, ...]
    """(n_metrics,), as `exact_sums` gives them."""
    counts: Ints
    """(n_metrics, 4), by COUNTS."""

    def plus(self, other: Sums) -> Sums:
        """Both together."""
        totals = (a + b for a, b in zip(self.totals, other.totals, strict=True))
        return Sums(tuple(totals), self.counts + other.counts)


class Totals:
    """Sums over per-question tables, part by part, on any number of workers.

    Values are added without rounding, as whole numbers (`sums.py`), and divided once: no split or
    order of the parts changes a bit of a mean. The population are the answerable questions that the
    stage was run for, and of answers all questions (DESIGN §7); a synthetic, unvalidated one counts
    in its own slice only.
    measured: the metrics of every stage, as `PerQuery.measured` gives them.
    """

    def __init__(self, measured: Mapping[str, Sequence[str]]) -> None:
        self.measured = {stage: tuple(names) for stage, names in measured.items() if names}
        self._sums: dict[tuple[tuple[str, ...], str], Sums] = {}
        """By (the slices of a question, stage)."""

    def add(self, per_query: pa.Table, questions: pa.Table) -> None:
        """Counts what `PerQuery` gave for `questions` (RESOLVED).

        Raises RunError if a row is of none of these questions.
        """
        sets, code = slice_sets(questions["slices"])
        where = pc.index_in(
            combined(per_query["question_id"]), value_set=combined(questions["question_id"])
        )
        if where.null_count:
            stranger = per_query["question_id"].filter(where.is_null())[0].as_py()
            raise RunError(
                f"per-question numbers of {stranger!r}, which is not among the questions"
            )
        question = ints(where, 0)
        answerable = bools(combined(questions["answerable"]), True)[question]
        ran = np.asarray(pc.not_equal(per_query["status"], "not_run"))
        gold = _has_gold(questions)
        for stage, names in self.measured.items():
            counted = ran if stage in VARIANTS else ran & answerable
            rows = counted & np.asarray(pc.equal(per_query["stage"], stage))
            part = per_query.filter(pa.array(rows))
            sums = _sums(part, names, code[question[rows]], len(sets), gold[question[rows]])
            for slices, found in zip(sets, sums, strict=True):
                self._put(slices, stage, found)

    def merge(self, other: Totals) -> None:
        """Counts everything that another worker has counted."""
        for (slices, stage), sums in other._sums.items():
            self._put(slices, stage, sums)

    def aggregate(self) -> pa.Table:
        """AGGREGATE: a row per stage and metric."""
        rows = self._rows([slices for slices in self._seen() if SYNTHETIC not in slices])
        return pa.Table.from_pylist(rows, schema=AGGREGATE)

    def slices(self) -> pa.Table:
        """SLICES: the same by slice, also of slices in which no question counts."""
        members: dict[str, list[tuple[str, ...]]] = {}
        for slices in self._seen():
            for name in slices:
                inside = members.setdefault(name, [])
                if name == SYNTHETIC or SYNTHETIC not in slices:
                    inside.append(slices)
        rows = [
            {"slice": name, **row} for name in sorted(members) for row in self._rows(members[name])
        ]
        return pa.Table.from_pylist(rows, schema=SLICES)

    def _seen(self) -> set[tuple[str, ...]]:
        return {slices for slices, _ in self._sums}

    def _put(self, slices: tuple[str, ...], stage: str, sums: Sums) -> None:
        before = self._sums.get((slices, stage))
        self._sums[slices, stage] = sums if before is None else before.plus(sums)

    def _rows(self, inside: Iterable[tuple[str, ...]]) -> list[dict[str, object]]:
        """A row per stage and metric, over questions of these slices."""
        rows: list[dict[str, object]] = []
        for stage, names in self.measured.items():
            sums = Sums((0,) * len(names), np.zeros((len(names), len(COUNTS)), np.int64))
            for slices in inside:
                sums = sums.plus(self._sums[slices, stage])
            for name, total, counts in zip(names, sums.totals, sums.counts.tolist(), strict=True):
                numbers = dict(zip(COUNTS, counts, strict=True))
                average = mean(total, numbers["n"])
                rows.append({"stage": stage, "metric": name, "mean": average, **numbers})
        return rows


def _has_gold(questions: pa.Table) -> Bools:
    row, items = flatten(questions["evidence"])
    gold = row[bools(items.field("gold"), False)]
    return np.bincount(gold, minlength=questions.num_rows) > 0


def _sums(part: pa.Table, names: Sequence[str], code: Ints, n_sets: int, gold: Bools) -> list[Sums]:
    """The sums of one stage's rows for every set of slices.

    code: (n_rows,), the set of each row's question. gold: (n_rows,), whether it has gold.
    """
    width = len(names)
    values = _columns(part, names)
    flags = _flags(
        part, values, [parse(name).metric for name in names], gold, _unjudged(part, names)
    )
    cell = code[:, None] * width + np.arange(width)
    size = n_sets * width
    totals = exact_sums(values[flags[0]], cell[flags[0]], size)
    counts = np.stack([np.bincount(cell[flag], minlength=size) for flag in flags], axis=1)
    counts = counts.reshape(n_sets, width, len(COUNTS))
    return [
        Sums(tuple(totals[number * width : (number + 1) * width]), counts[number])
        for number in range(n_sets)
    ]


def _columns(part: pa.Table, names: Sequence[str]) -> Floats:
    """(n_rows, n_metrics)"""
    columns = [combined(part[name]).to_numpy(zero_copy_only=False) for name in names]
    return np.stack(columns, axis=1)


def _unjudged(part: pa.Table, names: Sequence[str]) -> Bools:
    """(n_rows, n_metrics): a judge failed on it."""
    flags = np.zeros((part.num_rows, len(names)), bool)
    if UNJUDGED in part.column_names:
        row, failed = flatten(part[UNJUDGED])
        number = ints(pc.index_in(failed, value_set=pa.array(names, TEXT)), -1)
        flags[row[number >= 0], number[number >= 0]] = True
    return flags


def _flags(
    part: pa.Table, values: Floats, metrics: Sequence[Metric], gold: Bools, unjudged: Bools
) -> tuple[Bools, Bools, Bools, Bools]:
    """Where a value counts in each of COUNTS, (n_rows, n_metrics) each.

    Of a missing row, a metric that has a worst value is NaN only where it is undefined; another is
    undefined where the gold is absent that it needs.
    """
    error = np.asarray(pc.equal(part["status"], "error"))[:, None] | unjudged
    missing = np.asarray(pc.equal(part["status"], "missing"))[:, None]
    scored = np.array([metric.worst is not None for metric in metrics])
    needs = np.array([metric.needs_gold for metric in metrics])
    nan = np.isnan(values)
    undefined = nan & ~error & (~missing | scored | (needs & ~gold[:, None]))
    return ~nan, undefined, missing & ~undefined, np.broadcast_to(error, nan.shape)
