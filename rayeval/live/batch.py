"""The user's Python code asked with a batch: a table goes in, an answer per row comes out."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from rayeval.errors import RowError, text_of
from rayeval.hits import ordered
from rayeval.live.retry import AGAIN
from rayeval.words import plural


def answers(code: Callable[[pa.Table], Any], batch: pa.Table, column: str) -> list[Any]:
    """What the code gives for every row of `batch`.

    It may answer with a list, or with a table that has `column`.
    Raises RowError if that isn't one answer per row, and for what the network did to the code.
    """
    try:
        found = code(batch)
    except OSError as error:  # a search's lost connection is no fault of this machine
        raise RowError(f"{text_of(error)}{AGAIN}") from error
    except (SystemExit, GeneratorExit, CancelledError) as error:  # nor does code that gives up
        raise RowError(text_of(error)) from error
    if isinstance(found, pa.Table):
        if column not in found.column_names:
            raise RowError(f"the table has no column {column!r}, only {found.column_names}")
        found = found[column].to_pylist()
    if isinstance(found, str | Mapping) or not ordered(found):
        raise RowError(f"expected a list with an answer per question, got {type(found).__name__}")
    listed = [one.tolist() if hasattr(one, "tolist") else one for one in found]
    if len(listed) != batch.num_rows:
        raise RowError(f"{plural(len(listed), 'answer')} for {plural(batch.num_rows, 'question')}")
    return listed
