"""A golden set's file as a table of questions, and all of its problems at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import combined, flatten
from rayeval.errors import Problem
from rayeval.golden.config import Format, Split
from rayeval.golden.problems import Report
from rayeval.golden.records import BLOCK_ROWS, format_of, records
from rayeval.golden.rows import question_row
from rayeval.tables import QUESTIONS, UNLABELLED
from rayeval.words import plural, verb


def load_questions(
    path: str, kind: Format | None = None, *, relevant: int = 2
) -> tuple[pa.Table, list[Problem]]:
    """Every question of the golden set at `path`, by question_id, and every problem.

    kind: the file's format; None: by its extension.
    relevant: evidence of this relevance or more is gold.
    Returns tables.QUESTIONS, but for what can't be understood, so that locating the rest can find
    further problems. Ids are unique if there is no problem.
    Raises ConfigError if the format is unknown, InfrastructureError if reading fails.
    """
    report = Report(path)
    rows = _checked_ids(_rows(path, kind or format_of(path), report, relevant), report)
    blocks = [QUESTIONS.empty_table()]
    block: list[dict[str, Any]] = []
    for row in rows:
        block.append(row)
        if len(block) == BLOCK_ROWS:
            blocks.append(pa.Table.from_pylist(block, schema=QUESTIONS))
            block = []
    blocks.append(pa.Table.from_pylist(block, schema=QUESTIONS))
    table = pa.concat_tables(blocks).combine_chunks()
    _say_unlabelled(table, report, relevant)
    return table.sort_by([("question_id", "ascending"), ("line", "ascending")]), report.problems


def _say_unlabelled(questions: pa.Table, report: Report, relevant: int) -> None:
    """One warning for all of them, and one for those with evidence that is just not good enough:
    there may be as many as questions."""
    open_ = pc.equal(combined(questions["labels"]), UNLABELLED).to_numpy(zero_copy_only=False)
    rows, evidence = flatten(questions["evidence"])
    best = np.zeros(questions.num_rows, int)
    np.maximum.at(best, rows, evidence.field("relevance").to_numpy(zero_copy_only=False))
    for kind, flags in (("unlabelled", best == 0), ("below_relevant", best > 0)):
        ids = questions["question_id"].filter(pa.array(open_ & flags))
        if not len(ids):
            continue
        of, first = plural(questions.num_rows, "question"), str(ids[0])
        said = _unlabelled(first)
        if kind != "unlabelled":
            said = _below(len(ids), first, relevant, int(best[open_ & flags].min()))
        report.at(None).problem(kind, f"{len(ids)} of {of} {said}", warning=True)


def _unlabelled(first: str) -> str:
    return (
        f"not labelled yet (`labels: none`), e.g. {first}: they count for nothing that needs gold. "
        "`rayeval golden label RUN` gives them evidence, from the hits of a run of this golden set"
    )


def _below(n: int, first: str, relevant: int, least: int) -> str:
    """least: of the best relevance of each."""
    have = verb(n, "has", "have")
    return (
        f"{have} evidence, but none of relevance {relevant} or more, e.g. {first}: they count for "
        f"nothing that needs gold. What is gold is yours to say: with `score --relevant {least}` "
        f"(`metrics: {{relevant: {least}}}` in a configuration) all of them have some"
    )


def in_splits(questions: pa.Table, splits: Sequence[Split] | None) -> pa.Table:
    """The questions of these splits; all of them without a choice."""
    if splits is None:
        return questions
    chosen = pa.array(splits, questions.schema.field("split").type)
    return questions.filter(pc.is_in(questions["split"], value_set=chosen))


def _rows(path: str, kind: Format, report: Report, relevant: int) -> Iterator[dict[str, Any]]:
    """The rows in the file's order."""
    empty = True
    for line, value in records(path, kind, report):
        empty = False
        row = question_row(value, line, report, relevant=relevant)
        if row is not None:
            yield row
    if empty and not report.problems:
        report.at(None).problem("empty_golden_set", "there is no question in it; add some")


def _checked_ids(rows: Iterator[dict[str, Any]], report: Report) -> Iterator[dict[str, Any]]:
    """The rows; those whose id was there before are problems."""
    lines: dict[str, int] = {}
    for row in rows:
        name, line = row["question_id"], row["line"]
        first = lines.setdefault(name, line)
        if first != line:
            message = f"line {first} has this id too (without one, it is made of the question)"
            message += "; rename one or drop it"
            report.at(line, name).problem("duplicate_question_id", message)
        yield row
