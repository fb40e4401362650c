"""The user's Parquet files: damage, found at whatever moment, is a fault of the file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import pyarrow as pa

from rayeval.errors import DataError, Problem

Found = TypeVar("Found")


def damaged(path: str, error: Exception) -> DataError:
    """What to raise for a file that can't be read to its end."""
    message = f"cut off or damaged ({error}); write it again"
    return DataError([Problem(path, None, None, "unreadable_file", message)])


def intact(path: str, read: Callable[[], Found]) -> Found:
    """What `read` gives.

    Raises DataError where that fails because of what is in the file.
    """
    try:
        return read()
    except MemoryError:
        raise
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # the disk's fault
            raise
        raise damaged(path, error) from error


def sound(path: str, table: pa.Table) -> pa.Table:
    """The table as it is.

    Raises DataError where its text isn't UTF-8 or its lists have no sound ends, which nobody who
    reads a file of Parquet checks.
    """
    intact(path, lambda: table.validate(full=True))
    return table


def each(path: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """The batches of the file at `path`, read to its end."""
    while (batch := intact(path, lambda: next(batches, None))) is not None:
        yield sound(path, pa.Table.from_batches([batch]))
