"""Offsets in columns of numbers: what is wrong with them, and as spans."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import flatten, lists
from rayeval.tables import SPAN, SPANS

ENDS = ("start_char", "end_char")
LARGEST = 2**63 - 1
Fault = tuple[int, str, str]
"""Row (from 0), kind, message."""
PAIRS = "`start_char` and `end_char` come in pairs; give both, or none"


def offset_faults(start: pl.Series, end: pl.Series) -> Iterator[Fault]:
    """Rows with one of the two alone, and values that are no number of characters.

    start, end: (n_rows,), any numbers, null where there are none.
    """
    for row in np.flatnonzero((start.is_null() != end.is_null()).to_numpy()):
        yield int(row), "missing_field", PAIRS
    for name, values in zip(ENDS, (start, end), strict=True):
        for row in np.flatnonzero(~whole(values).to_numpy()):
            said = f"`{name}` is {values[int(row)]}, expected a whole number"
            yield int(row), "bad_number", said


def whole_faults(name: str, values: pl.Series) -> Iterator[Fault]:
    """Rows of the column `name` whose value is no whole number of 0 or more.

    values: (n_rows,), any numbers, null where there are none. A column of whole numbers with gaps
    is one of floats where pandas wrote it.
    """
    bad = ~whole(values) | (values.cast(pl.Float64) < 0).fill_null(False)
    for row in np.flatnonzero(bad.to_numpy()):
        said = f"`{name}` is {values[int(row)]}, expected a whole number of 0 or more"
        yield int(row), "bad_number", said


def whole(values: pl.Series) -> pl.Series:
    """(n_rows,), whether it is null or a whole number of 64 bits."""
    if values.dtype == pl.UInt64:
        return (values <= LARGEST).fill_null(True)
    if values.dtype.is_integer() or values.dtype == pl.Null:
        return pl.repeat(True, len(values), dtype=pl.Boolean, eager=True)
    number = values.cast(pl.Float64)
    found = number.is_finite() & (number == number.floor()) & (number.abs() < float(LARGEST))
    return found.fill_null(True)


def spans_of(start: pa.Array, end: pa.Array) -> pa.Array:
    """One span each, null where there is none; of offsets that have no faults."""
    known = pc.and_(start.is_valid(), end.is_valid())
    span = pa.StructArray.from_arrays(
        [values.filter(known).cast(pa.int64()) for values in (start, end)], fields=list(SPAN)
    )
    there = known.to_numpy(zero_copy_only=False)
    return lists(np.flatnonzero(there), span, len(there), null=~there).cast(SPANS)


def as_spans(column: pa.Array) -> pa.Array:
    """SPANS of lists of structs with the two fields, whatever else these hold."""
    if pa.types.is_null(column.type) or pa.types.is_null(column.type.value_type):
        return column.cast(SPANS)
    rows, items = flatten(column)
    ends = dict(zip(items.type.names, items.flatten(), strict=True))
    span = pa.StructArray.from_arrays(
        [ends[name].cast(pa.int64()) for name in ENDS], fields=list(SPAN)
    )
    null = column.is_null().to_numpy(zero_copy_only=False)
    return lists(rows, span, len(column), null=null).cast(SPANS)


def span_faults(column: pa.Array) -> Iterator[Fault]:
    """Values in lists of spans that are missing, or that 64 bits can't hold, by the list's row."""
    if pa.types.is_null(column.type) or pa.types.is_null(column.type.value_type):
        return
    rows, items = flatten(column)
    ends = dict(zip(items.type.names, items.flatten(), strict=True))
    for name in ENDS:
        values = pl.Series(ends[name])
        for at in np.flatnonzero((~whole(values) | values.is_null()).to_numpy()):
            said = f"`{name}` is {values[int(at)]}, expected a whole number below 2^63"
            yield int(rows[at]), "bad_span", said
