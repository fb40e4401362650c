"""A table of chunks that hits name by id: Parquet (a run's passages.parquet too) or JSON Lines."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pajson
import pyarrow.parquet as pq

from rayeval import files
from rayeval.errors import ConfigError, DataError, Problem
from rayeval.interop.own.parquet import opened, spans_of
from rayeval.strict_json import KeyTwiceError, loads
from rayeval.tables import CHUNKS, TEXT, conform
from rayeval.words import plural, verb

BOM = b"\xef\xbb\xbf"
BLOCK = 1 << 26
"""Bytes of JSON that are read at once."""
IDS = ("chunk_id", "source_id", "revision_id")


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
    if not path.lower().endswith((".jsonl", ".ndjson")):
        raise ConfigError(f"chunks {path}: expected a file that ends in .parquet or .jsonl")
    if not files.exists(path):
        raise ConfigError(f"chunks: there is no file at {path}")
    fs, inner = files.open_fs(path)
    try:
        for block in _blocks(path):
            yield pajson.read_json(io.BytesIO(block))
    except pa.ArrowInvalid as error:
        with fs.open_input_stream(inner) as stream:
            raise DataError([_wrong_line(stream, path, error)]) from error


def _wrong_line(stream: pa.NativeFile, path: str, error: pa.ArrowInvalid) -> Problem:
    """The first line that is no object of its own, else what Arrow says of the file."""
    for number, line in enumerate(io.BufferedReader(stream), start=1):
        try:
            if line.strip() and not isinstance(loads(line.removeprefix(BOM)), dict):
                return Problem(path, number, None, "wrong_type", "expected an object")
        except KeyTwiceError as twice:
            return Problem(path, number, None, "field_twice", str(twice))
        except (ValueError, RecursionError) as wrong:
            return Problem(path, number, None, "invalid_json", f"not JSON: {wrong}")
    return Problem(path, None, None, "invalid_json", str(error))


def _blocks(path: str) -> Iterator[bytes]:
    """The file in parts of whole lines."""
    fs, inner = files.open_fs(path)
    rest, some = b"", False
    with fs.open_input_stream(inner) as stream:
        while data := stream.read(BLOCK):
            lines, _, rest = (rest + data).rpartition(b"\n")
            if lines.strip():
                some = True
                yield lines
    if rest.strip() or not some:
        yield rest


def _chunks(table: pa.Table, path: str) -> pa.Table:
    there = set(table.column_names)
    if "chunk_id" not in there or not there & {"source_id", "text"}:
        message = "a chunk has chunk_id, and source_id and where it lies, or its text"
        message += f"; the columns are {', '.join(table.column_names) or 'none'}"
        raise DataError([Problem(path, None, None, "missing_field", message)])
    for name in IDS:
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
