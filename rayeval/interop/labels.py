"""Labels that people or judges gave: TREC qrels, CSV, TSV, JSON Lines, Parquet.

item_id (of qrels "topic docno")  <- item_id
label                             <- label; 2, 2.0 and "2" are one label
annotator                         <- annotator; none: one person
cluster (of qrels the topic)      <- cluster; none: the item itself
language, slice                   <- language, slice
author                            <- author: who wrote what is labelled, e.g. a model
weight                            <- inclusion_probability: with which an item was drawn
sample                            <- sample: which draw of `rayeval judge sample` a row is of
A row without a label is not labelled yet; it is counted and left out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import polars as pl

from rayeval.encoded import not_utf8
from rayeval.errors import DataError, Problem
from rayeval.interop.reading import READERS, records
from rayeval.interop.records import Record, RefusedError
from rayeval.interop.trec import text
from rayeval.interop.whole import broken
from rayeval.packed import extension
from rayeval.words import plural

SCHEMA = {
    "item_id": pl.String,
    "label": pl.String,
    "annotator": pl.String,
    "cluster": pl.String,
    "language": pl.String,
    "slice": pl.String,
    "author": pl.String,
    "inclusion_probability": pl.Float64,
    "sample": pl.String,
    "line": pl.Int64,
}
OPTIONAL = ("annotator", "cluster", "language", "slice", "author", "sample")
NEEDED = ("item_id", "label")
OBJECTS = (".jsonl", ".ndjson", ".json")
"""Files without a header: every record has fields of its own."""
EXPECTED = "expected item_id, label and maybe annotator, cluster, language, slice, author"
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?inf(inity)?", re.IGNORECASE)
"""What Python reads as a number, but for the words that only Python does: 1_0 is a name."""
INFINITE = ("inf", "-inf")
"""Labels that are none: a scale has no place for them."""
WORKBOOKS = frozenset({".xlsx", ".xls", ".ods", ".numbers"})
OF_ITEMS = ("cluster", "language", "inclusion_probability")
"""What an item has once, however many people label it."""


def read_labels(path: str) -> pl.DataFrame:
    """A row of SCHEMA per label; `label` null where there is none yet.

    Files without one of the named extensions are qrels. Raises DataError for rows without an
    item, and for an item that one annotator labels twice.
    """
    problems: list[Problem] = []
    if extension(path) in WORKBOOKS:
        said = "this is a workbook; save the sheet as CSV, in UTF-8"
        raise broken(path, "unknown_format", said)
    if extension(path) in READERS:
        found = records([path], problems, kinds=tuple(READERS))
        rows = [_row(record, problems) for record in _headed(path, found)]
    else:
        rows = [_judged(path, line, fields, problems) for line, fields in text.numbered(path)]
    frame = pl.DataFrame([row for row in rows if row is not None], schema=SCHEMA)
    problems += [*_twice(path, frame), *_at_odds(path, frame)]
    if not problems and frame["label"].null_count() == frame.height:
        blank = f"none of its {frame.height:,} rows has a label yet; fill in `label`"
        empty = frame.is_empty()
        kind, said = (
            ("empty_labels", "no label is in this file") if empty else ("unlabelled", blank)
        )
        problems.append(Problem(path, None, None, kind, said))
    if problems:
        raise DataError(_together(problems), foreign=True)
    return frame


def _headed(path: str, found: Iterator[Record]) -> Iterator[Record]:
    """The records. Raises DataError, once, where the header of a table lacks a column."""
    for number, record in enumerate(found):
        lacking = None if number or extension(path) in OBJECTS else _lacking(record)
        if lacking:
            raise broken(path, "missing_field", lacking, 1)
        yield record


def _lacking(record: Record) -> str | None:
    """Which field isn't there, and which are."""
    lacking = [f"`{name}`" for name in NEEDED if name not in record.value]
    there = ", ".join(map(str, record.value)) or "nothing"
    return f"there is no {' and no '.join(lacking)}, only {there}; {EXPECTED}" if lacking else None


def canonical(value: Any) -> str | None:
    """A label as text: 2, 2.0, "2" and " 2.0 " are "2"; null, NaN and blank are none."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool):
        return str(value).lower()
    said = str(value).strip()
    if not _NUMBER.fullmatch(said):
        return None if said.lower() in ("", "nan") else said
    number = float(said)
    if math.isinf(number):
        return INFINITE[number < 0]
    if not number.is_integer():
        return repr(number)
    return str(int(number)) if abs(number) < 2**53 else said


def _row(record: Record, problems: list[Problem]) -> dict[str, Any] | None:
    try:
        if lacking := _lacking(record):
            raise RefusedError("missing_field", lacking)
        label = record.get("label")
        label = record.text("label") if isinstance(label, str) else label
        if isinstance(label, dict | list) or canonical(label) in INFINITE:
            raise RefusedError(
                "wrong_type", f"label is {str(label)[:60]}, expected text or a finite number"
            )
        return {
            "item_id": record.id("item_id"),
            "label": canonical(label),
            **{name: record.name(name) for name in OPTIONAL},
            "inclusion_probability": _probability(record),
            "line": record.line,
        }
    except RefusedError as error:
        problems.append(record.problem(error))
        return None


def _probability(record: Record) -> float | None:
    value = record.get("inclusion_probability")
    if value is None:
        return None
    try:
        # Where a spreadsheet writes decimals with a comma, 0.5 comes back as 0,5.
        number = float(value.replace(",", ".") if isinstance(value, str) else value)
    except (TypeError, ValueError):
        number = -1.0
    if not 0 < number <= 1:
        said = f"inclusion_probability is {str(value)[:40]!r}, expected more than 0, at most 1"
        raise RefusedError("wrong_type", said)
    return number


def _judged(
    path: str, line: int, fields: list[bytes], problems: list[Problem]
) -> dict[str, Any] | None:
    """A line of qrels: topic, anything, docno, label."""
    try:
        words = [field.decode() for field in fields]
    except UnicodeDecodeError as error:
        said = not_utf8(b" ".join(fields), error)
        problems.append(Problem(path, line, None, "not_utf8", said))
        return None
    if len(words) != 4:
        said = f"{plural(len(words), 'field')}, expected 4: topic, 0, docno, label"
        problems.append(Problem(path, line, None, "wrong_fields", said))
        return None
    topic, _, docno, label = words
    if canonical(label) in INFINITE:
        said = f"label is {label}, expected text or a finite number"
        problems.append(Problem(path, line, None, "wrong_type", said))
        return None
    row = {"item_id": f"{topic} {docno}", "label": canonical(label), "cluster": topic}
    return {**dict.fromkeys(SCHEMA), **row, "line": line}


def _twice(path: str, frame: pl.DataFrame) -> list[Problem]:
    keys = ["item_id", "annotator"]
    again = frame.filter(~pl.struct(keys).is_first_distinct())
    return [
        Problem(
            path, line, None, "labelled_twice",
            f"item {item!r} has a label of {annotator or 'its annotator'} already; "
            "give annotators names of their own, or drop one",
        )
        for item, annotator, line in again.select(*keys, "line").iter_rows()
    ]  # fmt: skip


def _at_odds(path: str, frame: pl.DataFrame) -> list[Problem]:
    """Items of which two rows say different things that are the item's own."""
    found: list[Problem] = []
    for name in OF_ITEMS:
        said = frame.drop_nulls(name).with_columns(first=pl.col(name).first().over("item_id"))
        other = said.filter(pl.col(name) != pl.col("first"))
        for item, value, first, line in other.select("item_id", name, "first", "line").iter_rows():
            message = f"item {item!r} has the {name} {value!r}, and {first!r} in an earlier row"
            found.append(Problem(path, line, None, "at_odds", f"{message}; an item has one"))
    return found


def _together(problems: list[Problem]) -> list[Problem]:
    """What is wrong with many rows in the same way, said once."""
    alike: dict[tuple[str, str], list[Problem]] = {}
    for problem in problems:
        alike.setdefault((problem.kind, problem.message), []).append(problem)
    return [
        first
        if not rest
        else replace(first, message=f"{first.message} (so are {len(rest):,} more)")
        for first, *rest in alike.values()
    ]
