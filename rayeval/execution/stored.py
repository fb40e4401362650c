"""The tables of a run, read whole, by column, by block or by row."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval import files
from rayeval.errors import RunError
from rayeval.execution import parquet
from rayeval.tables import TEXT

T = TypeVar("T")


class Stored:
    """A folder of Parquet files that a manifest lists."""

    path: str
    manifest: dict[str, Any]

    def columns(self, table: str) -> list[str]:
        """The names of a table's columns."""
        return list(self._read(table, lambda path: parquet.opened(path).schema.names))

    def select(self, table: str, columns: Sequence[str], stage: str | None = None) -> pl.DataFrame:
        """These columns of a table, of all its rows or of one stage's, and nothing else of it."""
        where = None if stage is None else pc.field("stage") == pa.scalar(stage, TEXT)
        return self._read(table, lambda path: parquet.read(path, columns, self._within(where)))

    def parts(self, table: str, columns: Sequence[str]) -> Iterator[pl.DataFrame]:
        """As `select`, by blocks of rows in order: one is held at a time."""
        try:
            yield from parquet.batches(f"{self.path}/{table}.parquet", columns, self._within())
        except (FileNotFoundError, pa.ArrowInvalid) as error:
            raise damaged(self.path, f"{table}.parquet can't be read: {error}") from error

    def rows(
        self, table: str, column: str, values: Sequence[str], columns: Sequence[str] | None = None
    ) -> pl.DataFrame:
        """The rows of a table where `column` is one of `values`, without reading the rest of it.

        columns: which of them; None is all.
        """
        where = parquet.among(column, values)
        return self._read(table, lambda path: parquet.read(path, columns, where))

    def _within(self, where: pc.Expression | None = None) -> pc.Expression | None:
        """`where`, and what else a part of a run is limited to."""
        return where

    def _read(self, table: str, read: Callable[[str], T]) -> T:
        try:
            return read(f"{self.path}/{table}.parquet")
        except (FileNotFoundError, pa.ArrowInvalid) as error:
            raise damaged(self.path, f"{table}.parquet can't be read: {error}") from error

    def _optional(self, name: str, schema: pa.Schema) -> pl.DataFrame:
        """A table that not every run has."""
        if f"{name}.parquet" not in self.manifest["files"]:
            return pl.DataFrame(schema.empty_table())
        return self._table(name)

    def _table(self, name: str) -> pl.DataFrame:
        try:
            return pl.read_parquet(io.BytesIO(files.read_bytes(f"{self.path}/{name}.parquet")))
        except (FileNotFoundError, pl.exceptions.PolarsError) as error:
            raise damaged(self.path, f"{name}.parquet can't be read: {error}") from error


def damaged(path: str, what: str) -> RunError:
    """The run at `path` is not what was written."""
    return RunError(
        f"the run at {path} is damaged: {what}. Fetch a whole copy of it, or run it again; "
        f"`rayeval verify` names every file that differs."
    )
