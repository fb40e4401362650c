"""A table of chunks that hits name by id: Parquet (a run's passages.parquet too) or JSON Lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rayeval import files
from rayeval.columns import combined
from rayeval.errors import ConfigError, DataError, Problem
from rayeval.interop.own.chunk_lines import NAMES, check_complete, lines
from rayeval.interop.own.damage import each
from rayeval.interop.own.offsets import (
    ENDS,
    Fault,
    as_spans,
    offset_faults,
    span_faults,
    spans_of,
    whole_faults,
)
from rayeval.interop.own.parquet import opened
from rayeval.interop.own.types import check_types
from rayeval.packed import extension
from rayeval.tables import CHUNKS, TEXT, conform
from rayeval.words import plural, verb


def tables(paths: Sequence[str]) -> Iterator[pa.Table]:
    """The chunks as tables of schema CHUNKS.

    Columns: `chunk_id`, `source_id` or `text` or both, and maybe `revision_id`, `spans` (or
    `start_char` and `end_char`), `tokens`; others are not looked at.
    Raises ConfigError where there is no such file, DataError if it has no such columns.
    """
    for path in paths:
        for table in _read(path):
            yield _chunks(table, path)


def _read(path: str) -> Iterator[pa.Table]:
    if path.lower().endswith(".parquet"):
        file: pq.ParquetFile = opened(path, what="chunks")
        names = [*CHUNKS.names, "start_char", "end_char"]
        wanted = [name for name in names if name in file.schema_arrow.names]
        check_types(path, pa.schema([file.schema_arrow.field(name) for name in wanted]))
        yield from each(path, file.iter_batches(columns=wanted))
        return
    if extension(path) not in (".jsonl", ".ndjson"):
        raise ConfigError(f"chunks {path}: expected a file that ends in .parquet or .jsonl")
    files.check_file(path, "chunks")
    yield from lines(path)


def _chunks(table: pa.Table, path: str) -> pa.Table:
    check_complete(path, table.column_names, table.column_names)
    for name in NAMES:
        if name in table.column_names:
            at = table.schema.get_field_index(name)
            table = table.set_column(at, name, table[name].cast(TEXT))
    lost = int(pc.sum(table["chunk_id"].is_null()).as_py() or 0)
    if lost:
        message = f"{plural(lost, 'chunk')} {verb(lost, 'has', 'have')} no chunk_id"
        raise DataError([Problem(path, None, None, "missing_field", message)])
    if "spans" not in table.column_names and set(ENDS) & set(table.column_names):
        table = table.append_column("spans", _spans(table, path))
    if "tokens" in table.column_names:
        _refuse(table, path, whole_faults("tokens", pl.Series(table["tokens"])))
    if "spans" in table.column_names:
        _refuse(table, path, span_faults(combined(table["spans"])))
        at = table.schema.get_field_index("spans")
        table = table.set_column(at, "spans", as_spans(combined(table["spans"])))
    return conform(table, CHUNKS)


def _refuse(table: pa.Table, path: str, faults: Iterable[Fault]) -> None:
    """Raises DataError, which names the chunks, if there are faults."""
    found = [
        Problem(path, None, None, kind, f"chunk {table['chunk_id'][row].as_py()!r}: {message}")
        for row, kind, message in faults
    ]
    if found:
        raise DataError(found)


def _spans(table: pa.Table, path: str) -> pa.Array:
    """Of `start_char` and `end_char`.

    Raises DataError, which names the chunks, for those that are none.
    """
    absent = pa.nulls(table.num_rows)
    start, end = (combined(table[name]) if name in table.column_names else absent for name in ENDS)
    _refuse(table, path, offset_faults(pl.Series(start), pl.Series(end)))
    return spans_of(start, end)
