"""A trace in Parquet with a row per hit: checked as the same rows in CSV are, and nested."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from rayeval.columns import lists
from rayeval.errors import DataError
from rayeval.interop.own.damage import each, intact, sound
from rayeval.interop.own.nameless import SHOWN, Bools, Nameless, problem_of
from rayeval.interop.own.offsets import ENDS, offset_faults, whole_faults
from rayeval.interop.own.replies import COLUMNS
from rayeval.tables import TEXT

FLAT = ("chunk_id", "source_id", "revision_id", "start_char", "end_char", "text", "score")
"""A row per hit: these, `question_id`, and maybe `stage` (else `trace`), `rank`, `latency_ms`, and
what was answered (replies.COLUMNS)."""
OF_ROW = ("question_id", "stage", "rank", "latency_ms")
FLAT_ROWS = 1 << 18
"""Hits that are read at once."""
Part = tuple[int, pa.Table]
"""The number of its first row, from 1, and the rows."""


def parts(path: str, file: pq.ParquetFile) -> Iterator[Part]:
    """The rows, every question's in one part; all in one where a question's lie scattered."""
    if not _together(path, file):
        yield 1, sound(path, intact(path, file.read))
        return
    first, rest = 1, file.schema_arrow.empty_table()
    for batch in each(path, file.iter_batches(FLAT_ROWS)):
        table = pa.concat_tables([rest, batch])
        last = table.num_rows - int(_ids(table).rle().struct.field("len")[-1])
        rest = table.slice(last)
        if last:
            yield first, table.slice(0, last)
            first += last
    yield first, rest


def _together(path: str, file: pq.ParquetFile) -> bool:
    """Whether the rows of every question stand together."""
    batches = each(path, file.iter_batches(columns=["question_id"]))
    values = [_ids(table).rle().struct.field("value") for table in batches if table.num_rows]
    ids = pl.concat(values) if values else pl.Series([], dtype=pl.String)
    return not ids.rle().struct.field("value").is_duplicated().any()


def _ids(table: pa.Table) -> pl.Series:
    return pl.Series(table["question_id"]).cast(pl.String)


def nested(
    part: Part, path: str, nameless: Nameless, hits_of: Callable[[pa.Array], pa.StructArray]
) -> pa.Table:
    """A row per question and stage, by question; hits by `rank`, else as they stood.

    Raises DataError for ranks that say no order, offsets that are none, rows without a stage where
    others have one, and times of one stage that differ.
    """
    first, table = part
    hit, table = _bare(table)
    table = nameless.filled(table, hit, path, first)
    frame = pl.DataFrame(pl.from_arrow(table))
    frame = frame.with_columns(pl.col("question_id", "stage").cast(pl.String), _hit=pl.Series(hit))
    problems = [
        problem_of(table, row, path, first, message, kind)
        for row, kind, message in (*_numbers(frame), *_offsets(frame), *_times(frame))
    ]
    problems = problems or [
        problem_of(table, row, path, first, message, kind) for row, kind, message in _ranks(frame)
    ]
    if problems:
        raise DataError(problems)
    return _grouped(frame, hits_of)


def _bare(table: pa.Table) -> tuple[Bools, pa.Table]:
    """Which rows are a hit, and the table with its column `stage`.

    A row that names neither a stage nor anything found, and says what was answered, is none.
    """
    if "stage" not in table.column_names:
        table = table.append_column("stage", pa.nulls(table.num_rows, TEXT))

    def null(names: Sequence[str]) -> Bools:
        there = [table[name] for name in names if name in table.column_names]
        each_null = [np.asarray(column.is_null(), bool) for column in there]
        empty: Bools = np.all([np.ones(table.num_rows, bool), *each_null], axis=0)
        return empty

    answered = null(("stage", *FLAT)) & ~null(COLUMNS[1:])
    return ~answered, table


def _numbers(frame: pl.DataFrame) -> Iterator[tuple[int, str, str]]:
    for name in ("rank", "repeat"):
        if name in frame.columns:
            yield from islice(whole_faults(name, frame[name]), SHOWN)


def _offsets(frame: pl.DataFrame) -> Iterator[tuple[int, str, str]]:
    if not set(ENDS) & set(frame.columns):
        return
    absent = pl.Series([None] * frame.height, dtype=pl.Null)
    start, end = (frame.get_column(name, default=absent) for name in ENDS)
    yield from offset_faults(start, end)


def _ranks(frame: pl.DataFrame) -> Iterator[tuple[int, str, str]]:
    """A rank stands once in a stage of a question, and in all of its rows or none."""
    if "rank" not in frame.columns:
        return
    stage = _stage(frame)
    twice = pl.col("rank").is_not_null() & ~pl.struct(*stage, "rank").is_first_distinct()
    some = pl.col("rank").is_null() & pl.col("rank").is_not_null().any().over(stage)
    for wrong, kind, message in (
        (twice, "duplicate_rank", "this `rank` is there before in the same stage of the question"),
        (some, "missing_field", "`rank` is empty, though other hits of this stage have one"),
    ):
        rows = frame.select((wrong & pl.col("_hit")).arg_true()).to_series()
        yield from ((int(row), kind, message) for row in rows.head(SHOWN))


def _times(frame: pl.DataFrame) -> Iterator[tuple[int, str, str]]:
    """A stage took one time, in all of its rows that say so."""
    if "latency_ms" not in frame.columns:
        return
    first = pl.col("latency_ms").drop_nulls().first().over(_stage(frame))
    rows = frame.select(pl.col("latency_ms").ne(first).arg_true()).to_series()
    message = "`latency_ms` is another one than in a row before, of the same stage; say one"
    yield from ((int(row), "bad_latency", message) for row in rows.head(SHOWN))


def _stage(frame: pl.DataFrame) -> list[str]:
    return [name for name in ("question_id", "stage", "repeat") if name in frame.columns]


def _grouped(frame: pl.DataFrame, hits_of: Callable[[pa.Array], pa.StructArray]) -> pa.Table:
    """A question's stages stand in the order in which they first appear."""
    asked = _stage(frame)
    frame = frame.with_row_index("_row").with_columns(_first=pl.col("_row").min().over(asked))
    order = ["question_id", "_first", *(["rank"] if "rank" in frame.columns else [])]
    frame = frame.sort(order, maintain_order=True, nulls_last=True)
    once = [name for name in ("latency_ms", *COLUMNS[1:]) if name in frame.columns]
    said = [pl.col(name).drop_nulls().first() for name in once]
    heads = frame.group_by(asked, maintain_order=True).agg(*said, _hits=pl.col("_hit").sum())
    found = frame.filter("_hit")
    counts = heads["_hits"].to_numpy()
    rows = np.repeat(np.arange(heads.height), counts)
    items = {name: found[name].to_arrow() for name in FLAT if name in found.columns}
    struct = pa.StructArray.from_arrays(list(items.values()), list(items))
    columns = {name: heads[name].to_arrow() for name in (*asked, *once)}
    columns["hits"] = lists(rows, hits_of(struct), heads.height, null=counts == 0)
    return pa.table(columns).sort_by("question_id")
