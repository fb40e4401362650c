"""The tables of a run, streamed from the store into `runs/{run_id}/` block by block."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rayeval import files
from rayeval.columns import flatten
from rayeval.errors import InfrastructureError
from rayeval.execution import inputs
from rayeval.execution.parquet import ROWS
from rayeval.execution.store import LAYOUT, read
from rayeval.tables import CHUNKS, HITS, RESOLVED, STANDS, TEXT, TEXTS, conform

TRACE = pa.schema(
    [
        ("question_id", TEXT),
        ("stage", TEXT),
        ("hits", HITS),
        ("removed_access", pa.int64()),
        ("removed_stale", pa.int64()),
        ("removed_gold", TEXTS),
        ("error", TEXT),
    ]
)
"""A row per (question_id, stage); the `removed_…` columns belong to the stage `filter`."""

PASSAGE = pa.schema([field for field in CHUNKS if field.name not in ("access", "parent_id")])
PASSAGE = PASSAGE.append(pa.field("stands", STANDS))


@dataclass(frozen=True)
class Sources:
    """Where the tables of a run come from: keys of whole outputs in one store."""

    root: str
    questions: str
    stages: tuple[tuple[str, str], ...]
    """(trace stage, key), in order; `filter` among them."""
    places: tuple[str, ...]
    """Outputs with list columns of chunks that `passages.parquet` must hold, by chunk_id."""
    chunks: str
    foreign: tuple[str, ...]
    """Outputs with a list column `foreign` of passages that are no chunks of the corpus."""
    tables: tuple[tuple[str, str], ...]
    """(file name, key) of outputs that are tables of the run as they are."""


def write_tables(task: tuple[str, Sources]) -> dict[str, dict[str, Any]]:
    """Writes every table of the run into `folder`; name → sha256, rows, size."""
    folder, sources = task
    written = {
        "questions.parquet": write_one(
            folder, "questions.parquet", questions(sources.root, sources.questions)
        ),
        "trace.parquet": write_one(folder, "trace.parquet", _trace(sources)),
        "passages.parquet": write_one(folder, "passages.parquet", _passages(sources)),
    }
    for name, key in sources.tables:
        written[name] = write_one(folder, name, parts(sources.root, key))
    return written


def parts(root: str, key: str) -> Iterator[pa.Table]:
    """The tables of a whole output."""
    return (read(path) for path in inputs.paths(root, key))


def questions(root: str, key: str) -> Iterator[pa.Table]:
    """The questions as evaluated, of the step with this key."""
    kept = pa.schema([field for field in RESOLVED if field.name not in ("file", "line")])
    return (conform(table, kept) for table in parts(root, key))


def _trace(sources: Sources) -> Iterator[pa.Table]:
    """Per block of questions, the rows of every stage, by question and then in stage order."""
    for block in range(inputs.count(sources.root, sources.questions)):
        tables = [
            _stage_rows(read(inputs.paths(sources.root, key)[block]), stage, order)
            for order, (stage, key) in enumerate(sources.stages)
        ]
        table = pa.concat_tables(tables)
        table = table.sort_by([("question_id", "ascending"), ("order", "ascending")])
        yield table.select(TRACE.names)


def _stage_rows(table: pa.Table, stage: str, order: int) -> pa.Table:
    """The questions for which the stage ran (or failed), as rows of the trace."""
    if "hits" in table.column_names:
        table = table.filter(pc.or_(table["hits"].is_valid(), table["error"].is_valid()))
    rows = table.num_rows
    table = table.append_column("stage", pa.array([stage] * rows, TEXT))
    return conform(table, TRACE).append_column("order", pa.array([order] * rows, pa.int64()))


def _passages(sources: Sources) -> Iterator[pa.Table]:
    """Every chunk of the trace and of the gold, by chunk_id."""
    wanted = pl.Series([], dtype=pl.String)
    for key in sources.places:
        for path in inputs.paths(sources.root, key):
            table = read(path)
            for name in ("passages", "gold_chunks"):
                if name in table.column_names:
                    ids = pl.Series(flatten(table[name])[1].field("chunk_id"))
                    wanted = pl.concat([wanted, ids]).unique()
    ids = wanted.to_arrow().cast(TEXT)
    found = [
        conform(table.filter(pc.is_in(table["chunk_id"], value_set=ids)), PASSAGE)
        for table in parts(sources.root, sources.chunks)
    ]
    brought = [
        conform(pa.Table.from_struct_array(flatten(table["foreign"])[1]), PASSAGE)
        for key in sources.foreign
        for table in parts(sources.root, key)
    ]
    table = pa.concat_tables([PASSAGE.empty_table(), *found, *brought]).sort_by("chunk_id")
    yield first_rows(table, "chunk_id")


def first_rows(table: pa.Table, column: str) -> pa.Table:
    """The first of every run of equal values of a sorted column."""
    values = table[column].combine_chunks()
    if len(values) < 2:
        return table
    changes = pc.not_equal(values[1:], values[:-1])
    return table.filter(pa.concat_arrays([pa.array([True]), changes]))


def write_one(folder: str, name: str, tables: Iterable[pa.Table]) -> dict[str, Any]:
    """One Parquet file, a row group per table and ROWS rows, at once or not at all."""
    fs, inner = files.open_fs(f"{folder}/{name}")
    temporary = f"{inner}.{uuid.uuid4().hex[:12]}.tmp"
    try:
        with fs.open_output_stream(temporary) as stream:
            sink = _Hashing(stream)
            rows = _write_groups(sink, tables)
        fs.move(temporary, inner)
    except OSError as error:
        raise InfrastructureError(f"can't write {folder}/{name}: {error}") from error
    finally:
        files.discard(fs, temporary)  # there only if something went wrong, in `tables` too
    return {"sha256": sink.sha256.hexdigest(), "rows": rows, "size_bytes": sink.size}


def _write_groups(sink: _Hashing, tables: Iterable[pa.Table]) -> int:
    rows, writer = 0, None
    try:
        for table in tables:
            if writer is None:
                writer = pq.ParquetWriter(sink, table.schema, compression="zstd", **LAYOUT)
            if table.num_rows:
                writer.write_table(table, row_group_size=ROWS)
            rows += table.num_rows
    finally:  # `tables` may raise, and a writer must end before its file does
        if writer is not None:
            writer.close()
    return rows


class _Hashing:
    """A file that knows the sha256 of what was written to it."""

    closed = False

    def __init__(self, stream: Any) -> None:
        self.stream, self.sha256, self.size = stream, hashlib.sha256(), 0

    def write(self, data: bytes) -> int:
        self.sha256.update(data)
        self.size += len(data)
        self.stream.write(data)
        return len(data)

    def flush(self) -> None:
        """The stream is closed by whoever opened it."""

    def tell(self) -> int:
        return self.size
