"""A golden set's file as a table of questions, and all of its problems at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rayeval.errors import Problem
from rayeval.golden.config import Format, Split
from rayeval.golden.problems import Report
from rayeval.golden.records import BLOCK_ROWS, format_of, records
from rayeval.golden.rows import question_row
from rayeval.tables import QUESTIONS, UNLABELLED
from rayeval.words import plural


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
    _say_unlabelled(table, report)
    return table.sort_by([("question_id", "ascending"), ("line", "ascending")]), report.problems


def _say_unlabelled(questions: pa.Table, report: Report) -> None:
    """One warning for all of them: there may be as many as questions."""
    ids = questions.filter(pc.equal(questions["labels"], UNLABELLED))["question_id"]
    if len(ids):
        message = (
            f"{len(ids)} of {plural(questions.num_rows, 'question')} not labelled yet (`labels: "
            f"none`), "
            f"e.g. {ids[0]}: they count for nothing that needs gold. `rayeval golden label RUN` "
            "gives them evidence, from the hits of a run of this golden set"
        )
        report.at(None).problem("unlabelled", message, warning=True)


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
