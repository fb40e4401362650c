"""A trace in Parquet: which layout it has, and its rows as FOREIGN."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rayeval import files
from rayeval.columns import flatten, lists
from rayeval.errors import ConfigError, DataError, Problem
from rayeval.interop.own.replies import COLUMNS, Replies
from rayeval.interop.own.types import check_types
from rayeval.tables import FOREIGN, FOREIGN_HIT, SPANS, TEXT, conform

OF_FILTER = ("removed_access", "removed_stale", "removed_gold")
"""Columns of a run's own trace that belong to its stage `filter`."""
FLAT = ("chunk_id", "source_id", "revision_id", "start_char", "end_char", "text", "score")
"""A row per hit: these, `question_id`, and maybe `stage` (else `trace`), `rank`, `latency_ms`, and
what was answered (replies.COLUMNS)."""
OF_ROW = ("question_id", "stage", "rank", "latency_ms")
ONE_STAGE = "trace"
ROWS = 512
"""Rows that are read at once, each with all its hits."""
FLAT_ROWS = 1 << 18
"""Hits that are read at once, where each is a row."""


def tables(path: str, replies: Replies) -> Iterator[pa.Table]:
    """The file's rows as tables of schema FOREIGN, in its order (a row per hit: by question).

    Raises DataError for columns that a trace has not, or not of such types.
    """
    for table in _rows(path, opened(path)):
        yield conform(replies.first(table), FOREIGN)


def _rows(path: str, file: pq.ParquetFile) -> Iterator[pa.Table]:
    """FOREIGN, with the columns of answers that there are."""
    names = file.schema_arrow.names
    check_types(path, file.schema_arrow)
    if "hits" in names:
        check_columns(path, names, (*FOREIGN.names, *OF_FILTER, *COLUMNS))
        check_hits(path, file)
        for batch in file.iter_batches(ROWS):
            yield _nested(pa.Table.from_batches([batch]))
    else:
        check_columns(path, names, (*OF_ROW, *FLAT, *COLUMNS))
        yield from map(_from_flat, _flat_parts(file))


def opened(
    path: str, what: str = "trace", metadata: pq.FileMetaData | None = None
) -> pq.ParquetFile:
    """The Parquet file at `path`.

    Raises ConfigError where there is none, DataError if it isn't whole.
    """
    if metadata is None and (not files.exists(path) or files.is_folder(path)):
        raise ConfigError(f"{what}: there is no file at {path}")
    fs, inner = files.open_fs(path)
    try:
        return pq.ParquetFile(fs.open_input_file(inner), metadata=metadata)
    except (pa.ArrowException, OSError) as error:
        message = f"not a whole Parquet file: {error}; write it again"
        raise DataError([Problem(path, None, None, "unreadable_file", message)]) from error


def check_columns(path: str, names: Sequence[str], known: Sequence[str]) -> None:
    """Raises DataError unless a trace has just these columns, `question_id` among them."""
    found = [
        Problem(path, None, None, "unknown_field", f"the column {name!r} is not part of a trace "
                f"(known are {', '.join(known)}); drop it, or name the tool with --format")
        for name in names
        if name not in known
    ]  # fmt: skip
    if "question_id" not in names:
        found.append(Problem(path, None, None, "missing_field", "no column `question_id`"))
    if "hits" not in names and not {"chunk_id", "source_id", "text"} & set(names):
        message = "no column `hits`; a row per hit has `chunk_id`, `source_id` or `text`"
        found.append(Problem(path, None, None, "missing_field", message))
    if found:
        raise DataError(found, foreign=True)


def _nested(table: pa.Table) -> pa.Table:
    """Rows with hits as a list column of FOREIGN_HIT."""
    if "stage" not in table.column_names:
        table = table.append_column("stage", pa.array([ONE_STAGE] * table.num_rows, TEXT))
    table = table.filter(pc.fill_null(pc.not_equal(table["stage"], "filter"), True))
    at = table.schema.get_field_index("hits")
    rows, items = flatten(table["hits"])
    null = table["hits"].is_null().combine_chunks().to_numpy(zero_copy_only=False)
    return table.set_column(at, "hits", lists(rows, hits_of(items), table.num_rows, null=null))


def hits_of(items: pa.Array) -> pa.StructArray:
    """Hits in any types that mean the same as FOREIGN_HIT; plain text is a passage."""
    n, named = len(items), {"text": items}
    if pa.types.is_struct(items.type):
        named = dict(zip(items.type.names, items.flatten(), strict=True))
    fields = [
        named[field.name].cast(field.type) if field.name in named else pa.nulls(n, field.type)
        for field in FOREIGN_HIT
    ]
    return pa.StructArray.from_arrays(fields, fields=list(FOREIGN_HIT))


def check_hits(path: str, file: pq.ParquetFile) -> None:
    """Raises DataError unless the column `hits` is a list of hits, or of plain text."""
    kind = file.schema_arrow.field("hits").type
    item = kind.value_type if pa.types.is_list(kind) or pa.types.is_large_list(kind) else None
    if item is None or not (pa.types.is_struct(item) or item in (pa.string(), TEXT)):
        message = f"the column `hits` is {kind}; expected a list of hits, or of text"
        raise DataError([Problem(path, None, None, "wrong_type", message)])
    names = item.names if pa.types.is_struct(item) else []
    unknown = [name for name in names if name not in FOREIGN_HIT.names]
    if unknown:
        known = ", ".join(FOREIGN_HIT.names)
        message = f"hits have the field {unknown[0]!r}; known are {known}: drop or rename it"
        raise DataError([Problem(path, None, None, "unknown_field", message)])


def _flat_parts(file: pq.ParquetFile) -> Iterator[pa.Table]:
    """The rows, every question's in one part; all in one where a question's lie scattered."""
    if not _together(file):
        yield file.read()
        return
    rest = file.schema_arrow.empty_table()
    for batch in file.iter_batches(FLAT_ROWS):
        table = pa.concat_tables([rest, pa.Table.from_batches([batch])])
        last = table.num_rows - int(_ids(table).rle().struct.field("len")[-1])
        rest = table.slice(last)
        if last:
            yield table.slice(0, last)
    yield rest


def _together(file: pq.ParquetFile) -> bool:
    """Whether the rows of every question stand together."""
    batches = file.iter_batches(columns=["question_id"])
    parts = [_ids(pa.Table.from_batches([batch])).rle().struct.field("value") for batch in batches]
    ids = pl.concat(parts) if parts else pl.Series([], dtype=pl.String)
    return not ids.rle().struct.field("value").is_duplicated().any()


def _ids(table: pa.Table) -> pl.Series:
    return pl.Series(table["question_id"]).cast(pl.String)


def _from_flat(table: pa.Table) -> pa.Table:
    """A row per hit as FOREIGN, by question and stage; hits by `rank`, else as they stood."""
    frame = pl.DataFrame(pl.from_arrow(table))
    if "stage" not in frame.columns:
        frame = frame.with_columns(stage=pl.lit(ONE_STAGE))
    frame = frame.with_columns(pl.col("question_id", "stage").cast(pl.String))
    if "rank" in frame.columns:
        frame = frame.sort("question_id", "rank", maintain_order=True, nulls_last=True)
    named = [name for name in FLAT if name in frame.columns]
    asked = [name for name in ("question_id", "stage", "repeat") if name in frame.columns]
    once = [name for name in ("latency_ms", *COLUMNS[1:]) if name in frame.columns]
    said = [pl.col(name).drop_nulls().first() for name in once]
    nested = frame.group_by(asked, maintain_order=True).agg(*named, *said)
    counts = nested[named[0]].list.len().to_numpy()
    rows = np.repeat(np.arange(nested.height), counts)
    items = {name: nested[name].explode().to_arrow() for name in named}
    if "start_char" in items and "end_char" in items:
        items["spans"] = spans_of(items.pop("start_char"), items.pop("end_char"))
    struct = pa.StructArray.from_arrays(list(items.values()), list(items))
    columns = {name: nested[name].to_arrow() for name in nested.columns if name not in named}
    columns["hits"] = lists(rows, hits_of(struct), nested.height)
    return pa.table(columns).sort_by("question_id")


def spans_of(start: pa.Array, end: pa.Array) -> pa.Array:
    """One span each, null where there is none."""
    known = pc.and_(start.is_valid(), end.is_valid()).to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(known)
    span = pa.StructArray.from_arrays(
        [start.cast(pa.int64()).drop_null(), end.cast(pa.int64()).drop_null()],
        ["start_char", "end_char"],
    )
    return lists(rows, span, len(known), null=~known).cast(SPANS)
