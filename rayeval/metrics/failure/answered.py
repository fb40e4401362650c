"""The last stop of the walk: what is wrong with the answers (DESIGN §6).

Of several tries a question fails when at least half of them do, by the code that most of them have;
of codes that as many have, the first in the order of the design's table. What no judge was asked is
not observed, and no failure. Where a judge was asked and failed, and what it didn't say could make
the question fail, it is an error.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Ints, flatten, lists
from rayeval.metrics.answers.claims import NOT_SUPPORTED
from rayeval.metrics.answers.context import ALL
from rayeval.metrics.answers.given import statuses
from rayeval.metrics.answers.values import AnswerValues
from rayeval.metrics.block import Block
from rayeval.metrics.evidence import bools
from rayeval.metrics.failure import codes
from rayeval.metrics.failure.losses import CONTRIBUTING
from rayeval.metrics.failure.walk import ERROR, FAILED, MISSING, STATUSES, SUCCESS
from rayeval.metrics.names import METRICS
from rayeval.metrics.pipeline import ERROR as FAILED_STAGE
from rayeval.metrics.pipeline import MISSING as LACKING
from rayeval.metrics.pipeline import OK, Pipeline
from rayeval.metrics.spans import Bools
from rayeval.tables import TEXT

Columns = dict[str, pa.Array]

STAGE = "answer"
ORDER = np.array([codes.INCORRECT, codes.UNSUPPORTED, codes.INVALID, codes.REFUSED])
FINDING = {"correctness": "answer_correctness", "support": "faithfulness"}
"""Task of a judge that finds faults → the metric that rests on the same verdicts."""


@dataclass(frozen=True)
class Answered:
    """How the answers to a batch of questions went; arrays (n_rows,)."""

    observed: Bools
    status: Ints
    """Codes of the walk's STATUSES."""
    code: Ints
    """What is wrong; -1: nothing is."""
    others: tuple[Ints, Ints]
    """(row, code) of what else is wrong with answers that fail."""


def answered(batch: pa.Table, pipeline: Pipeline, *, full: float) -> Answered:
    """What is wrong with the answers of the variant `answer`. Batch: as for `PerQuery`."""
    outcome = statuses(batch, pipeline)[STAGE]
    block = Block(batch, full=full, partial=full)
    answers = AnswerValues(batch, block, pipeline, STAGE)
    flags, row, n = _flags(answers), answers.given.row, batch.num_rows
    counts = np.stack([np.bincount(row[flag], minlength=n) for flag in flags], axis=1)
    wrong, tries = np.any(flags, axis=0), np.bincount(row, minlength=n)
    bad = np.bincount(row[wrong], minlength=n)
    maybe = bad + np.bincount(row[_unjudged(answers, pipeline) & ~wrong], minlength=n)
    fails = (bad > 0) & (2 * bad >= tries) & (outcome == OK)
    open_ = (maybe > bad) & (2 * maybe >= tries) & (outcome == OK) & ~fails
    first = counts.argmax(axis=1)
    known = np.full(n, SUCCESS)
    known[fails] = FAILED
    known[(outcome == FAILED_STAGE) | open_] = ERROR
    known[outcome == LACKING] = MISSING
    counts[np.arange(n), first] = 0
    where, other = np.nonzero((counts > 0) & fails[:, None])
    code = np.where(fails, ORDER[first], -1)
    return Answered((outcome == OK) & ~open_, known, code, (where, ORDER[other]))


def _flags(answers: AnswerValues) -> list[Bools]:
    """(n_answers,) of each code of ORDER."""
    given = answers.given
    wrong = bools(pc.equal(given.judged.field("correctness"), "incorrect"), False)
    own = answers.claims.own
    unsupported = np.any([own.is_("support", verdict) for verdict in NOT_SUPPORTED], axis=0)
    loose = np.bincount(own.entry[unsupported], minlength=len(wrong)) > 0
    answer, marks = flatten(given.items.field("citations"))
    nothing = bools(marks.field("chunk_id").is_null(), False)
    invalid = np.bincount(answer[nothing], minlength=len(given.row)) > 0
    refused = (given.abstained == 1) & (answers.handed.evidence == ALL)
    said = given.said
    return [said & given.entries(wrong), said & given.entries(loose), said & invalid, refused]


def _unjudged(answers: AnswerValues, pipeline: Pipeline) -> Bools:
    """(n_answers,): a verdict that could find a fault is missing because the judge failed."""
    found = [answers.value(METRICS[name]).failed
             for task, name in FINDING.items() if task in pipeline.judged]  # fmt: skip
    flags: Bools = np.any([np.zeros(len(answers.given.row), bool), *found], axis=0)
    return flags


def with_answers(columns: Columns, status: Ints, found: Answered) -> Columns:
    """The columns of FAILURES, walked on to the answers: what was a success so far may fail there.

    status: (n_rows,), how the walk ended before.
    """
    going = status == SUCCESS
    ended = np.where(going, found.status, status)
    fails = pa.array(going & (ended == FAILED))
    here = pa.array(going & (ended != SUCCESS))
    row, code = (part[going[found.others[0]]] for part in found.others)
    names = pa.array(codes.CODES, TEXT)
    wrong = names.take(pa.array(np.maximum(found.code, 0)))
    others = _entries(names.take(pa.array(code)))
    observed = np.flatnonzero(found.observed)
    reached = np.flatnonzero(found.observed & (ended == SUCCESS))
    return columns | {
        "status": pa.array(STATUSES, TEXT).take(pa.array(ended)),
        "code": pc.if_else(fails, wrong, columns["code"]),
        "stage": pc.if_else(here, pa.scalar(STAGE, TEXT), columns["stage"]),
        "contributing": _appended(columns["contributing"], row, others),
        "observed_stages": _appended(columns["observed_stages"], observed, _stage(len(observed))),
        "reached_stages": _appended(columns["reached_stages"], reached, _stage(len(reached))),
    }


def _entries(code: pa.Array) -> pa.Array:
    """Items of CONTRIBUTING: the answer's codes."""
    kind, n = CONTRIBUTING.value_type, len(code)
    known = {"stage": _stage(n), "code": code}
    fields = [known.get(field.name, pa.nulls(n, field.type)) for field in kind]
    return pa.StructArray.from_arrays(fields, fields=list(kind))


def _stage(n: int) -> pa.Array:
    return pa.array([STAGE] * n, TEXT)


def _appended(column: pa.Array, row: Ints, items: pa.Array) -> pa.Array:
    """A column of lists with `items` at the ends of their rows' lists."""
    before, there = flatten(column)
    rows = np.concatenate([before, row])
    order = np.argsort(rows, kind="stable")
    both = pa.concat_arrays([there.cast(items.type), items])
    return lists(rows[order], both.take(pa.array(order)), len(column))
