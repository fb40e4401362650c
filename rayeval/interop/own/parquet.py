"""A trace in Parquet: which layout it has, and its rows as FOREIGN."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rayeval import files
from rayeval.columns import combined, flatten, lists
from rayeval.errors import DataError, Problem
from rayeval.interop.own import hit_rows
from rayeval.interop.own.damage import damaged, each
from rayeval.interop.own.nameless import EMPTY, Bools, Nameless, problem_of
from rayeval.interop.own.offsets import (
    ENDS,
    Fault,
    offset_faults,
    span_faults,
    spans_of,
    whole_faults,
)
from rayeval.interop.own.replies import COLUMNS, Replies
from rayeval.interop.own.types import check_types, typed
from rayeval.tables import FOREIGN, FOREIGN_HIT, TEXT, conform
from rayeval.twice import refuse_twice

OF_FILTER = ("removed_access", "removed_stale", "removed_gold")
"""Columns of a run's own trace that belong to its stage `filter`."""
ROWS = 512
"""Rows that are read at once, each with all its hits."""


def tables(path: str, replies: Replies, nameless: Nameless) -> Iterator[pa.Table]:
    """The file's rows as tables of schema FOREIGN, in its order (a row per hit: by question).

    nameless: of the trace whose file this is.
    Raises DataError for columns that a trace has not, or not of such types, for rows that don't say
    which stage found what, in which order or where, and for a file that is damaged.
    """
    for table in _rows(path, opened(path), nameless):
        yield conform(replies.first(table), FOREIGN)


def _rows(path: str, file: pq.ParquetFile, nameless: Nameless) -> Iterator[pa.Table]:
    """FOREIGN, with the columns of answers that there are."""
    check_schema(path, file.schema_arrow)
    if "hits" in file.schema_arrow.names:
        row = 1
        for table in each(path, file.iter_batches(ROWS)):
            yield _timed(_nested(table, path, row, nameless))
            row += table.num_rows
    else:
        for part in hit_rows.parts(path, file):
            yield _timed(hit_rows.nested(part, path, nameless, hits_of))


def check_schema(path: str, schema: pa.Schema) -> None:
    """Raises DataError unless a trace may have these columns, of these types."""
    check_types(path, schema)
    if "hits" in schema.names:
        check_columns(path, schema.names, (*FOREIGN.names, *OF_FILTER, *COLUMNS))
        check_hits(path, schema)
    else:
        check_columns(path, schema.names, (*hit_rows.OF_ROW, *hit_rows.FLAT, *COLUMNS))


def opened(
    path: str, what: str = "trace", metadata: pq.FileMetaData | None = None
) -> pq.ParquetFile:
    """The Parquet file at `path`.

    Raises ConfigError where there is none, DataError if it isn't whole, or has a name twice.
    """
    if metadata is None:
        files.check_file(path, what)
    fs, inner = files.open_fs(path)
    try:
        file = pq.ParquetFile(fs.open_input_file(inner), metadata=metadata)
    except (pa.ArrowException, OSError) as error:
        raise damaged(path, error) from error
    if metadata is None:
        refuse_twice(path, file.schema_arrow)
    return file


def check_columns(path: str, names: Sequence[str], known: Sequence[str]) -> None:
    """Raises DataError unless a trace has just these columns, `question_id` among them."""
    found = [
        Problem(path, None, None, "unknown_field", f"the column {name!r} is not part of a trace "
                f"(known are {', '.join(known)}): rename it if it is one of these, else leave it "
                "out; or name the tool that wrote it with --format")
        for name in names
        if name not in known
    ]  # fmt: skip
    if "question_id" not in names:
        found.append(Problem(path, None, None, "missing_field", "no column `question_id`"))
    if "hits" not in names and not {"chunk_id", "source_id", "text"} & set(names):
        message = "no column `hits`; a row per hit has `chunk_id`, `source_id` or `text`"
        found.append(Problem(path, None, None, "missing_field", message))
    if len(set(ENDS) & set(names)) == 1:
        message = "of the columns `start_char` and `end_char` there is one; give both"
        found.append(Problem(path, None, None, "missing_field", message))
    if found:
        raise DataError(found, foreign=True)


def _nested(table: pa.Table, path: str, row: int, nameless: Nameless) -> pa.Table:
    """Rows with hits as a list column of FOREIGN_HIT. row: the number of the first, from 1."""
    if "stage" not in table.column_names:
        table = table.append_column("stage", pa.nulls(table.num_rows, TEXT))
    rows, items = flatten(table["hits"])
    null = np.asarray(table["hits"].is_null(), bool)
    wrong = [(int(rows[hit]), kind, message) for hit, kind, message in _faults(items)]
    wrong += [(int(at), "missing_field", EMPTY) for at in np.flatnonzero(_silent(table))]
    if "repeat" in table.column_names:
        wrong += whole_faults("repeat", pl.Series(table["repeat"]))
    if wrong:
        raise DataError([problem_of(table, at, path, row, said, kind) for at, kind, said in wrong])
    table = nameless.filled(table, ~null, path, row)
    at = table.schema.get_field_index("hits")
    table = table.set_column(at, "hits", lists(rows, hits_of(items), table.num_rows, null=null))
    return table.filter(pc.fill_null(pc.not_equal(table["stage"], "filter"), True))


def _silent(table: pa.Table) -> Bools:
    """(n_rows,), rows that tell nothing but a question."""
    told = [n for n in ("stage", "hits", "error", *COLUMNS[1:]) if n in table.column_names]
    silent: Bools = np.all([np.asarray(table[name].is_null(), bool) for name in told], axis=0)
    return silent


def _timed(table: pa.Table) -> pa.Table:
    """With ids, stages and times of the types of FOREIGN."""
    for field in FOREIGN:
        at = table.schema.get_field_index(field.name)
        if at >= 0 and field.name != "hits":
            table = table.set_column(at, field, typed(combined(table[at]), field.type))
    return table


def hits_of(items: pa.Array) -> pa.StructArray:
    """Hits in any types that mean the same as FOREIGN_HIT; plain text is a passage."""
    n, named = len(items), {"text": items}
    if pa.types.is_struct(items.type):
        named = dict(zip(items.type.names, items.flatten(), strict=True))
    if set(ENDS) <= named.keys():
        named["spans"] = spans_of(*(named[name] for name in ENDS))
    fields = [
        typed(named[field.name], field.type) if field.name in named else pa.nulls(n, field.type)
        for field in FOREIGN_HIT
    ]
    return pa.StructArray.from_arrays(fields, fields=list(FOREIGN_HIT))


def _faults(items: pa.Array) -> Iterator[Fault]:
    """What of hits the types of FOREIGN_HIT can't hold."""
    if pa.types.is_struct(items.type):
        named = dict(zip(items.type.names, items.flatten(), strict=True))
        if "spans" in named:
            yield from span_faults(named["spans"])
        if set(ENDS) <= named.keys():
            yield from offset_faults(*(pl.Series(named[name]) for name in ENDS))


def check_hits(path: str, schema: pa.Schema) -> None:
    """Raises DataError unless the column `hits` is a list of hits, or of plain text."""
    kind = schema.field("hits").type
    item = kind.value_type if pa.types.is_list(kind) or pa.types.is_large_list(kind) else None
    if item is None or not (pa.types.is_struct(item) or item in (pa.string(), TEXT)):
        message = f"the column `hits` is {kind}; expected a list of hits, or of text"
        raise DataError([Problem(path, None, None, "wrong_type", message)])
    names = item.names if pa.types.is_struct(item) else []
    ends = set(ENDS) & set(names)
    unknown = [name for name in names if name not in (*FOREIGN_HIT.names, *ENDS)]
    if unknown:
        known = ", ".join((*FOREIGN_HIT.names, *ENDS))
        message = f"hits have the field {unknown[0]!r}; known are {known}: rename or drop it"
        raise DataError([Problem(path, None, None, "unknown_field", message)])
    if len(ends) == 1 or (ends and "spans" in names):
        message = "hits say where they stand by `spans`, or by `start_char` and `end_char` both"
        raise DataError([Problem(path, None, None, "contradiction", message)])
