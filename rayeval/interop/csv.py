"""Hits in a plain table, one per row: CSV or TSV with a header.

Mapping. `question_id` (or `query_id`, `qid`; without them `question`, of whose text the id is
made), and a hit as `chunk_id`, `source_id` (`doc_id`, `docid`, `document_id`) and/or `text`
(`content`), with `revision_id`, `start_char` and `end_char`
(code points) where known. `rank` orders a question's hits in a stage, best first; without it, the
rows' order does. `score` is kept. `stage` names the stage, `trace` where there is none; a
question's stages are in the order in which they first appear. Of a question that was asked again
(`repeat` 1, 2, …) the first time counts. Empty cells are null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from rayeval.columns import lists
from rayeval.errors import DataError, Problem
from rayeval.ids import made_question_id
from rayeval.interop.cells import ROW, cells, header, located
from rayeval.interop.imported import Imported
from rayeval.interop.whole import broken
from rayeval.tables import FOREIGN, FOREIGN_HIT, SPAN
from rayeval.words import plural

NAME = "csv"
FILES = "hits, one per row: .csv or .tsv with question_id, chunk_id | doc_id | text, rank, …"
NAMES = {
    "question_id": ("question_id", "query_id", "qid"),
    "chunk_id": ("chunk_id",),
    "source_id": ("source_id", "doc_id", "docid", "document_id"),
    "revision_id": ("revision_id",),
    "text": ("text", "content"),
    "start_char": ("start_char",),
    "end_char": ("end_char",),
    "rank": ("rank",),
    "score": ("score",),
    "stage": ("stage",),
    "repeat": ("repeat",),
}
NUMBERS = {
    "start_char": pl.Int64, "end_char": pl.Int64, "rank": pl.Int64, "repeat": pl.Int64,
    "score": pl.Float64,
}  # fmt: skip
HIT = ("chunk_id", "source_id", "text")


def read(paths: Sequence[str]) -> Imported:
    """What was retrieved; there are no questions in such a file."""
    problems: list[Problem] = []
    notes: list[str] = []
    frames = [_first(_rows(path, notes, problems), path, notes) for path in paths]
    if not problems:
        _check_order(frames, problems)
    if problems:
        raise DataError(problems, foreign=True)
    table = foreign(pl.concat(frames))
    columns = [set(header(path)[1]) for path in paths]
    return Imported(
        trace=iter([table]) if table.num_rows else iter(()),
        notes=notes,
        either=any("source_id" not in names for names in columns),
        made=not all(names & set(NAMES["question_id"]) for names in columns),
    )


def _rows(path: str, notes: list[str], problems: list[Problem]) -> pl.DataFrame:
    """Every column of NAMES, typed, with ROW and `file`."""
    frame = _named(cells(path, []))
    names = {ours: [n for n in theirs if n in frame.columns] for ours, theirs in NAMES.items()}
    for ours, found in names.items():
        if len(found) > 1:
            raise broken(path, "field_twice", f"{found} are one field, {ours}; keep one", 1)
    if not names["question_id"] or not any(names[hit] for hit in HIT):
        wanted = "question_id (or question), and chunk_id, doc_id or text"
        raise broken(path, "missing_field", f"expected the columns {wanted}", 1)
    used = {found[0]: ours for ours, found in names.items() if found}
    left = [name for name in frame.columns if name not in used and name != ROW]
    if left:
        notes.append(f"{path}: columns left out: {', '.join(left)}")
    frame = frame.select(ROW, *used).rename(used)
    absent = [pl.lit(None, pl.String).alias(name) for name in NAMES if name not in frame.columns]
    frame = frame.with_columns(absent).select(ROW, *NAMES)
    problems.extend(_faults(path, frame))
    typed = [_number(n).cast(t, strict=False) for n, t in NUMBERS.items()]
    stage = pl.col("stage").fill_null("trace")
    return frame.with_columns(*typed, stage, pl.lit(path).alias("file"))


def _named(frame: pl.DataFrame) -> pl.DataFrame:
    """With ids that are made of `question`, where the file has no others."""
    if "question" not in frame.columns or set(NAMES["question_id"]) & set(frame.columns):
        return frame
    texts = frame["question"].drop_nulls().unique()
    ids = pl.Series([made_question_id(text) for text in texts], dtype=pl.String)
    made = pl.col("question").replace_strict(texts, ids, default=None)
    return frame.with_columns(question_id=made).drop("question")


def _first(rows: pl.DataFrame, path: str, notes: list[str]) -> pl.DataFrame:
    """Without what was found when a question was asked again."""
    kept = rows.filter(pl.col("repeat").fill_null(0) == 0)
    if left := rows.height - kept.height:
        notes.append(f"{path}: left out are {plural(left, 'hit')} of `repeat` 1 and later")
    return kept


def _faults(path: str, frame: pl.DataFrame) -> Iterator[Problem]:
    """Rows that are no hit, and cells that are no number."""
    for wrong, kind, say in (
        (pl.col("question_id").is_null(), "missing_field", "`question_id` is empty"),
        (pl.all_horizontal(pl.col(*HIT).is_null()), "missing_field",
         "no chunk id, source id or text: say what was found"),
        (pl.col("start_char").is_null() != pl.col("end_char").is_null(), "missing_field",
         "`start_char` and `end_char` come in pairs"),
    ):  # fmt: skip
        if len(found := frame.filter(wrong)):
            yield from located(path, found, kind, _said(say))
    for name, type_ in NUMBERS.items():
        number = _number(name).cast(type_, strict=False)
        bad = ~(number >= 0) if type_ == pl.Int64 else ~number.is_finite()
        if len(found := frame.filter(pl.col(name).is_not_null() & bad.fill_null(True))):
            wanted = "a whole number of 0 or more" if type_ == pl.Int64 else "a finite number"
            yield from located(path, found, "bad_number", _not_a(name, wanted))


def _number(name: str) -> pl.Expr:
    """The cells as a cast reads them; 3.0, as pandas writes a column with gaps, is 3."""
    cells = pl.col(name).str.strip_chars()
    return cells if NUMBERS[name] == pl.Float64 else cells.str.replace(r"^(-?\d+)\.0*$", "${1}")


def _said(text: str) -> Callable[[dict[str, object]], str]:
    return lambda row: text


def _not_a(name: str, wanted: str) -> Callable[[dict[str, object]], str]:
    return lambda row: f"`{name}` is {row[name]!r}, expected {wanted}"


def _check_order(frames: Sequence[pl.DataFrame], problems: list[Problem]) -> None:
    """A rank stands once in a stage of a question, and in all of its rows or none."""
    every = pl.concat(frames)
    stage = ["question_id", "stage"]
    twice = pl.col("rank").is_not_null() & ~pl.struct(*stage, "rank").is_first_distinct()
    some = pl.col("rank").is_null() & pl.col("rank").is_not_null().any().over(stage)
    for path in every["file"].unique(maintain_order=True):
        here = pl.col("file") == path
        if len(found := every.filter(twice).filter(here)):
            say = _said("this `rank` is there before in the same stage of the question")
            problems.extend(located(path, found, "duplicate_rank", say))
        if len(found := every.filter(some).filter(here)):
            say = _said("`rank` is empty, though other hits of this stage have one")
            problems.extend(located(path, found, "missing_field", say))


def foreign(rows: pl.DataFrame) -> pa.Table:
    """The table FOREIGN of hits, one per row, in order of a question's first row."""
    first = pl.col("_row").min()
    rows = (
        rows.with_row_index("_row")
        .with_columns(
            _question=first.over("question_id"), _stage=first.over("question_id", "stage")
        )
        .sort("_question", "_stage", "rank", nulls_last=True, maintain_order=True)
    )
    begins = rows["_stage"].is_first_distinct()
    group = np.cumsum(begins.to_numpy()).astype(np.int64) - 1
    heads = rows.filter(begins)
    columns: dict[str, Any] = {
        "question_id": heads["question_id"].to_arrow(),
        "stage": heads["stage"].to_arrow(),
        "hits": lists(group, _hits(rows), len(heads)),
        "latency_ms": pa.nulls(len(heads)),
        "error": pa.nulls(len(heads)),
    }
    return pa.table(columns).cast(FOREIGN)


def _hits(rows: pl.DataFrame) -> pa.StructArray:
    """Rows as FOREIGN_HIT; `spans` null where there are no offsets."""
    located_rows = rows["start_char"].is_not_null().to_numpy()
    offsets = rows.filter(pl.Series(located_rows)).select("start_char", "end_char")
    span = pa.StructArray.from_arrays([c.to_arrow() for c in offsets], fields=list(SPAN))
    spans = lists(np.flatnonzero(located_rows), span, len(rows), null=~located_rows)
    values = {name: rows[name].to_arrow() for name in ("chunk_id", "source_id", "revision_id")}
    values |= {"spans": spans, "text": rows["text"].to_arrow(), "score": rows["score"].to_arrow()}
    return pa.StructArray.from_arrays(
        [values[f.name].cast(f.type) for f in FOREIGN_HIT], fields=list(FOREIGN_HIT)
    )
