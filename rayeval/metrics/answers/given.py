"""The answers of one variant over a batch as flat arrays, beside what a judge made of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.answer_tables import ANSWER, JUDGED
from rayeval.columns import Floats, Ints, flatten
from rayeval.metrics.evidence import bools, ints
from rayeval.metrics.pipeline import ERROR, MISSING, OK, Codes, Pipeline, failed_rows
from rayeval.metrics.spans import Bools

NONE = -1


def column_of(variant: str) -> str:
    """The batch column with the answers of a variant."""
    return "answers" if variant == "answer" else f"answers:{variant}"


@dataclass(frozen=True)
class Given:
    """Every answer, question after question, repeats in order; arrays (n_answers,)."""

    variant: str
    n_rows: int
    row: Ints
    items: pa.Array
    """The ANSWER structs."""
    judged: pa.Array
    """The JUDGED structs of the batch, of whatever variant."""
    entry: Ints
    """Which of them is of this answer; -1 where there is none."""
    unjudged: Bools
    """(n_rows,): the judge failed on the whole question."""

    @cached_property
    def failed(self) -> Bools:
        """It ended in an error."""
        return bools(self.items.field("error").is_valid(), False)

    @cached_property
    def abstained(self) -> Floats:
        """1 for a refusal, 0 for an answer; NaN where that isn't known."""
        told = self.items.field("abstained").cast(pa.int8()).cast(pa.float64())
        values: Floats = told.to_numpy(zero_copy_only=False).astype(np.float64)
        return np.where(self.failed, np.nan, values)

    @cached_property
    def said(self) -> Bools:
        """It says something: neither a refusal nor an error."""
        result: Bools = np.asarray(self.items.field("answer").is_valid()) & (self.abstained == 0)
        return result

    @cached_property
    def repeat(self) -> Ints:
        """Which try it is, from 0."""
        return ints(self.items.field("repeat"), 0)

    @cached_property
    def context(self) -> tuple[Ints, pa.Array]:
        """(answer, chunk id) of everything that it was handed; what isn't told has none."""
        return flatten(self.items.field("context"))

    @cached_property
    def handed(self) -> Ints:
        """How many chunks it was handed; -1 where that isn't told."""
        return ints(pc.list_value_length(self.items.field("context")), NONE)

    def entries(self, flags: Bools) -> Bools:
        """(n_answers,): its entry's flag; False without an entry. flags: (n_judged,)."""
        padded = np.append(flags, False)
        result: Bools = padded[self.entry]
        return result

    def of_entries(self, values: Floats) -> Floats:
        """(n_answers,): its entry's value; NaN without an entry. values: (n_judged,)."""
        padded = np.append(values, np.nan)
        result: Floats = padded[self.entry]
        return result


def given(batch: pa.Table, variant: str) -> Given:
    """The answers in the batch's column of `variant`, and its `judged`, if it has that."""
    row, items = flatten(batch[column_of(variant)])
    n, unjudged = batch.num_rows, np.zeros(batch.num_rows, bool)
    judged_row, judged = np.zeros(0, np.int64), pa.array([], JUDGED)
    if "judged" in batch.column_names:
        judged_row, judged = flatten(batch["judged"])
        unjudged = failed_rows(batch, "judged")
    entry = _matching(row, items, judged_row, judged, variant)
    return Given(variant, n, row, items.cast(ANSWER), judged, entry, unjudged)


def _matching(row: Ints, items: pa.Array, judged_row: Ints, judged: pa.Array, variant: str) -> Ints:
    """(n_answers,): the entry of the same row, variant and repeat; -1 where there is none."""
    mine = np.flatnonzero(bools(pc.equal(judged.field("variant"), variant), False))
    repeat, of = ints(items.field("repeat"), 0), ints(judged.field("repeat"), 0)[mine]
    width = 1 + max(repeat.max(initial=0), of.max(initial=0))
    found = ints(pc.index_in(pa.array(row * width + repeat),
                             value_set=pa.array(judged_row[mine] * width + of)), NONE)  # fmt: skip
    result: Ints = np.append(mine, NONE)[found]
    return result


def statuses(batch: pa.Table, pipeline: Pipeline) -> dict[str, Codes]:
    """How every variant went for every question, (n_rows,) codes of `pipeline.STATUSES`.

    One try that failed makes an error of the question: a mean over the others would hide it. That
    a stage before failed explains that there is no answer, but not of one without a context.
    """
    upstream = np.zeros(batch.num_rows, bool)
    for stage in pipeline.stages:
        upstream |= failed_rows(batch, stage)
    result = {}
    for variant in pipeline.answers:
        every = given(batch, variant)
        tries = np.bincount(every.row, minlength=batch.num_rows)
        bad = np.bincount(every.row[every.failed], minlength=batch.num_rows) > 0
        bad |= failed_rows(batch, column_of(variant))
        absent = np.where(upstream & (variant == "answer"), ERROR, MISSING)
        result[variant] = np.where(bad, ERROR, np.where(tries == 0, absent, OK))
    return result
