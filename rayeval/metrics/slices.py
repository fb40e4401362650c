"""Which questions share the same slices."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Ints, flatten
from rayeval.metrics.evidence import ints


def slice_sets(column: pa.ChunkedArray | pa.Array) -> tuple[list[tuple[str, ...]], Ints]:
    """The distinct sets of names in a column of lists of text, and the set of every row.

    Each set is sorted, and so are the sets; order and repetition in a list don't matter.
    """
    row, items = flatten(column)
    names = pc.unique(items).sort()
    table = _sorted_numbers(row, ints(pc.index_in(items, value_set=names), 0), len(column))
    code = np.zeros(len(column), np.int64)
    for numbers in table.T:  # by their first names, then by the next ones
        code = np.unique(code * (len(names) + 1) + numbers, return_inverse=True)[1]
    first = np.unique(code, return_index=True)[1]
    text = names.to_pylist()
    return [tuple(text[n - 1] for n in table[at] if n) for at in first], code


def _sorted_numbers(row: Ints, number: Ints, n_rows: int) -> Ints:
    """(n_rows, length of the longest): the numbers of each row once, in order, from 1; then 0."""
    size = int(number.max(initial=0)) + 1
    row, number = np.divmod(np.unique(row * size + number), size)
    place = np.arange(len(row)) - np.searchsorted(row, row)
    table = np.zeros((n_rows, int(place.max(initial=-1)) + 1), np.int64)
    table[row, place] = number + 1
    return table
