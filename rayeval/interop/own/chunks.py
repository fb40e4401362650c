"""A table of chunks that hits name by id: Parquet (a run's passages.parquet too) or JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rayeval import files
from rayeval.errors import ConfigError, DataError, Problem
from rayeval.interop.own.chunk_lines import NAMES, check_complete, lines
from rayeval.interop.own.parquet import opened, spans_of
from rayeval.interop.whole import extension
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
        for batch in file.iter_batches(columns=wanted):
            yield pa.Table.from_batches([batch])
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
    if "spans" not in table.column_names and "start_char" in table.column_names:
        spans = spans_of(table["start_char"].combine_chunks(), table["end_char"].combine_chunks())
        table = table.append_column("spans", spans)
    return conform(table, CHUNKS)
