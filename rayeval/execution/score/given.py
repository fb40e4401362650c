"""Tables at hand as Parquet files of the store, so that they are read as such files are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, groupby
from typing import Any

import polars as pl
import pyarrow as pa

from rayeval.columns import combined
from rayeval.errors import ConfigError, DataError
from rayeval.execution.score.spool import GROUP_ROWS, stored
from rayeval.interop.own.hit_rows import FLAT_ROWS
from rayeval.interop.own.offsets import whole
from rayeval.interop.own.types import typed
from rayeval.tables import TEXT
from rayeval.twice import refuse_twice

Check = Callable[[pa.Schema], None]
INDEX = "__index_level_"
"""How the columns begin that pandas makes of an index."""

TYPES: dict[str, pa.DataType] = {
    **dict.fromkeys(("question_id", "stage", "chunk_id", "source_id", "revision_id", "text"), TEXT),
    **dict.fromkeys(("score", "latency_ms"), pa.float64()),
    **dict.fromkeys(("rank", "repeat"), pa.int64()),
}
"""Parts of a trace are one file, whatever types each came in."""


def is_table(value: Any) -> bool:
    """Whether a library offers it as columns: Arrow, Polars, pandas 2.2 or newer, DuckDB, …"""
    return any(hasattr(value, f"__arrow_c_{kind}__") for kind in ("stream", "array"))


def kind(value: Any) -> str:
    """What it is, in short: a frame shown in full fills a page."""
    of = type(value)
    return f"a {of.__module__.split('.')[0]}.{of.__name__}"


@contextmanager
def stored_tables(tables: Iterable[Any], name: str, check: Check, root: str) -> Iterator[list[str]]:
    """The files of tables, row after row, while they are used; a file for each set of columns.

    name: what messages call them, whatever the files are called. check: raises InputError for
    columns that are not what is expected.
    """
    found = chain.from_iterable(_read(table, name, check) for table in tables)
    alike = (group for _, group in groupby(found, key=lambda table: table.schema))
    with stored((_groups(some) for some in alike), root) as paths:
        try:
            yield paths
        except DataError as error:
            called = [replace(p, file=name) if p.file in paths else p for p in error.problems]
            raise DataError(called) from error


def _read(value: Any, name: str, check: Check) -> Iterator[pa.Table]:
    """The rows of one table, part by part."""
    try:
        with _reader(value) as reader:
            refuse_twice(name, reader.schema)
            kept = [n for n in reader.schema.names if not n.startswith(INDEX)]
            check(pa.schema([reader.schema.field(n) for n in kept]))
            for batch in reader:
                if batch.num_rows:
                    yield _alike(pa.Table.from_batches([batch]).select(kept))
    except (pa.ArrowException, TypeError) as error:
        raise ConfigError(f"{name}: {kind(value)} is no table: {error}") from error


def _alike(table: pa.Table) -> pa.Table:
    """With the columns that all kinds of tables have in one type, whoever wrote them."""
    for at, field in enumerate(table.schema):
        kind = TYPES.get(field.name)
        if kind is not None and field.type not in (kind, pa.uint64()) and _fits(table[at], kind):
            table = table.set_column(at, field.name, typed(combined(table[at]), kind))
    return table


def _fits(column: pa.ChunkedArray, kind: pa.DataType) -> bool:
    """Whether every value is one of the type; whoever reads the rows says which is not."""
    return not pa.types.is_integer(kind) or bool(whole(pl.Series(column)).all())


def _reader(value: Any) -> pa.RecordBatchReader:
    if not is_table(value):
        raise ConfigError(f"{kind(value)} stands among tables; expected another table")
    if isinstance(value, pl.DataFrame):  # whose own stream has text in a form of Polars' own
        return value.to_arrow().to_reader()
    if not hasattr(value, "__arrow_c_stream__"):
        return pa.Table.from_batches([pa.record_batch(value)]).to_reader()
    try:
        return pa.RecordBatchReader.from_stream(value)
    except ValueError as error:  # pandas of a column's name that is there twice
        raise ConfigError(f"{kind(value)} is no table: {error}; keep one of each name") from error


def _groups(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """In parts that can be read on their own: a row with a list of hits is a large one."""
    for table in tables:
        rows = GROUP_ROWS if "hits" in table.column_names else FLAT_ROWS
        yield from (table.slice(at, rows) for at in range(0, table.num_rows, rows))
