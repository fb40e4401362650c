"""Vectors as columns, and what they must be."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rayeval.columns import Floats, Ints, combined

Vectors = npt.NDArray[np.float32]

ELEMENTS = 1 << 21
"""Vector elements multiplied at once: bounds memory, and stays near the processor."""


def vector_column(vectors: Vectors) -> pa.Array:
    """(n, dim) as fixed-size lists of float32."""
    flat = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, vectors.shape[1])


def matrix(column: pa.ChunkedArray | pa.Array) -> tuple[Vectors, npt.NDArray[np.bool_]]:
    """The vectors that are there, (n_valid, dim), and which rows have one, (n_rows,).

    column: lists of one length, of a fixed-size type or (as stored) not.
    """
    array = combined(column)
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    present = array if valid.all() else array.drop_null()
    flat = present.flatten().to_numpy()
    if pa.types.is_fixed_size_list(array.type):
        dim = array.type.list_size
    else:
        dim = len(flat) // max(1, len(present))
    return flat.reshape(len(present), dim), valid


def unit(vectors: Vectors | Floats) -> Vectors:
    """Every row scaled to length 1, in float64 and by itself; a row of zeros stays.

    vectors: (n, dim).
    """
    wide = vectors.astype(np.float64)
    length = np.sqrt((wide * wide).sum(axis=1, keepdims=True))
    np.divide(wide, length, out=wide, where=length > 0)
    return wide.astype(np.float32)


def exact_scores(queries: Vectors, vectors: Vectors) -> Floats:
    """Inner products row by row in float64, which no batch or shard changes (DESIGN §9, law 4).

    vectors: (..., dim); queries: the same or broadcast to it. Returns (...).
    """
    products = vectors.astype(np.float64)
    products *= queries.astype(np.float64)
    scores: Floats = products.sum(axis=-1)
    return scores + 0.0  # -0.0 becomes 0.0


def pair_scores(queries: Vectors, owners: Ints, vectors: Vectors, places: Ints) -> Floats:
    """Exact scores (n,) of vector `places[i]` for query `owners[i]`, in bounded memory."""
    scores = np.empty(len(owners))
    step = max(1, ELEMENTS // max(1, queries.shape[1]))
    for start in range(0, len(owners), step):
        part = slice(start, start + step)
        scores[part] = exact_scores(queries[owners[part]], vectors[places[part]])
    return scores
