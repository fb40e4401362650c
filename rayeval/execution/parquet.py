"""Parts of a run's tables, read without the rest of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.dataset import Dataset, dataset

from rayeval import files
from rayeval.tables import TEXT

ROWS = 1 << 16
"""Rows that are decoded together: what bounds the memory beside what is kept."""
AHEAD = {"batch_size": ROWS, "batch_readahead": 1, "fragment_readahead": 1}
Columns = Sequence[str] | None


def opened(path: str) -> Dataset:
    """A Parquet file. Raises FileNotFoundError or ArrowInvalid if it can't be read."""
    fs, inner = files.open_fs(path)
    info = fs.get_file_info(inner)
    return _opened(path, info.size, info.mtime_ns)


@lru_cache(maxsize=16)
def _opened(path: str, size: int, changed: int) -> Dataset:
    """The footer of a file of many row groups takes longer to read than a shard's rows."""
    fs, inner = files.open_fs(path)
    return dataset(inner, filesystem=fs, format="parquet")


def read(path: str, columns: Columns, where: pc.Expression | None) -> pl.DataFrame:
    """The rows that fulfil `where`, in the file's order; None: all, as for `columns`."""
    wanted = None if columns is None else list(columns)
    return pl.DataFrame(opened(path).to_table(columns=wanted, filter=where, **AHEAD))


def batches(path: str, columns: Columns, where: pc.Expression | None) -> Iterator[pl.DataFrame]:
    """As `read`, at most ROWS rows at a time; at least one frame, so that the schema is known."""
    found = opened(path)
    wanted = None if columns is None else list(columns)
    yield pl.DataFrame(found.head(0, columns=wanted))
    for batch in found.to_batches(columns=wanted, filter=where, **AHEAD):
        if batch.num_rows:
            yield pl.DataFrame(pa.Table.from_batches([batch]))


def among(column: str, values: Sequence[str]) -> pc.Expression:
    """`column` is one of `values`; a row group without any of their range is not read."""
    name, wanted = pc.field(column), pa.array(values, TEXT)
    if not len(wanted):
        return pc.scalar(False)
    return between(column, min(values), max(values)) & name.isin(wanted)


def between(column: str, first: str, last: str) -> pc.Expression:
    """`column` from `first` to `last`, both inside."""
    name = pc.field(column)
    return (name >= pa.scalar(first, TEXT)) & (name <= pa.scalar(last, TEXT))
