"""Per-answer numbers: a row for every (question, variant, repeat), and their means by question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Floats, Ints, combined, lists
from rayeval.metrics.answers.context import LEVELS
from rayeval.metrics.answers.values import AnswerValues
from rayeval.metrics.block import Block
from rayeval.metrics.evidence import bools
from rayeval.metrics.names import Measure, Metric
from rayeval.metrics.pipeline import MISSING, OK, Codes, Pipeline
from rayeval.metrics.ranking import share
from rayeval.metrics.spans import Bools
from rayeval.tables import TEXT, TEXTS

UNJUDGED = "unjudged"
"""The column with the metrics that are NaN because a judge failed, where there is a judge."""
ANSWERED = pa.schema(
    [
        ("question_id", TEXT),
        ("stage", TEXT),
        ("repeat", pa.int64()),
        ("evidence", TEXT),  # of the gold its context held all | some | none; null: nobody knows
        ("refused", pa.bool_()),
        ("right", TEXT),  # right | partial | wrong; null of a refusal, and where nobody knows
    ]
)
"""What is told of every answer besides its metrics. Right is what a judge says, or without one
whether it contains the reference."""
Measures = Mapping[str, Sequence[Measure]]
"""The metrics of every variant."""


def schema(measures: Measures, pipeline: Pipeline) -> pa.Schema:
    """Of the rows of every answer."""
    names = dict.fromkeys(m.name for v in pipeline.answers for m in measures[v])
    return pa.schema([*ANSWERED, *((name, pa.float64()) for name in names)])


def per_answer(batch: pa.Table, block: Block, pipeline: Pipeline, measures: Measures) -> pa.Table:
    """A row per answer that is no error, by question, variant and repeat.

    A metric is NaN where it is undefined and where a judge failed.
    """
    wanted = schema(measures, pipeline)
    tables = [wanted.empty_table()]
    for variant in pipeline.answers:
        answers = AnswerValues(batch, block, pipeline, variant)
        given, level = answers.given, answers.handed.evidence
        columns = {
            "question_id": combined(batch["question_id"]).take(pa.array(given.row)),
            "stage": pa.array([variant] * len(given.row), TEXT),
            "repeat": given.repeat,
            "evidence": pa.array(LEVELS, TEXT).take(pa.array(level, mask=level < 0)),
            "refused": pa.array(given.abstained == 1, mask=np.isnan(given.abstained)),
            "right": answers.right(judged="correctness" in pipeline.judged),
            **{m.name: answers.value(m.metric).number for m in measures[variant]},
        }
        absent = {n: np.full(len(given.row), np.nan) for n in wanted.names if n not in columns}
        table = pa.table(columns | absent).select(wanted.names).filter(pa.array(~given.failed))
        tables.append(table.cast(wanted))
    table = pa.concat_tables(tables)
    order = pc.index_in(table["stage"], value_set=pa.array(pipeline.answers, TEXT))
    keys = [("question_id", "ascending"), ("order", "ascending"), ("repeat", "ascending")]
    return table.append_column("order", order).sort_by(keys).drop_columns("order")


class Folded:
    """One variant's metrics by question: means over its tries."""

    def __init__(self, batch: pa.Table, block: Block, pipeline: Pipeline, variant: str) -> None:
        self.answers = AnswerValues(batch, block, pipeline, variant)
        self.can = bools(combined(batch["answerable"]), True)
        self.told = bools(combined(batch["answerable"]).is_valid(), False)
        self.referred: Bools = self.can & np.asarray(self.answers.references.is_valid())

    def value(self, metric: Metric, outcome: Codes) -> tuple[Floats, Bools]:
        """(n_rows,) each: the mean over the tries that have a value; whether a judge failed.

        outcome: (n_rows,), how the variant went. One try on which the judge failed makes the
        mean NaN; a missing answer scores the worst where it would have had a value.
        """
        value, row, n = self.answers.value(metric), self.answers.given.row, len(outcome)
        there = ~np.isnan(value.number)
        total = np.bincount(row[there], weights=value.number[there], minlength=n)
        failed = (np.bincount(row[value.failed], minlength=n) > 0) & (outcome == OK)
        number = share(total, np.bincount(row[there], minlength=n))
        number[failed | (outcome != OK)] = np.nan
        if metric.worst is not None:
            number[(outcome == MISSING) & self._scored(metric.name)] = metric.worst
        return number, failed

    def _scored(self, name: str) -> Bools:
        """(n_rows,): the metric is defined for the question, whatever the answer is."""
        match name:
            case "false_refusal":
                return self.can & self.told
            case "right_refusal":
                return ~self.can
            case "abstention_accuracy":
                return self.told
            case _:
                return self.referred


def named(flags: Bools, names: Sequence[str]) -> pa.Array:
    """Per row, the names whose flag is up. flags: (n_rows, n_names)."""
    row, number = np.nonzero(flags)
    found: Ints = row.astype(np.int64)
    return lists(found, pa.array(names, TEXT).take(pa.array(number)), len(flags)).cast(TEXTS)
