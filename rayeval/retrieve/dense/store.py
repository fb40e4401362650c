"""A shard's vectors in memory, and who may find which."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Floats, Ints, combined, lists
from rayeval.errors import ConfigError, RowError, RunError
from rayeval.retrieve.dense.vectors import Vectors, matrix
from rayeval.retrieve.filter import Filter, Visibility, metadata
from rayeval.stage import Shard
from rayeval.tables import FOUND, HIT, HITS, TEXT
from rayeval.words import plural

Mask = npt.NDArray[np.bool_]

BLOCK = 65_536
"""Rows looked at in one go where something of their size is allocated."""


class Store:
    """Vectors in the order of their chunk ids, so that order by row is order by id.

    Chunks without a vector (they could not be embedded) are left out.
    """

    def __init__(
        self, shard: Shard, config: Filter, *, own: Callable[[pa.Array], Mask] | None = None
    ) -> None:
        self.chunk_ids, self.vectors = load_vectors(shard, own)
        self.visibility = None
        if config.access or config.current:
            self.visibility = _visibility(shard, config, self.chunk_ids)
        self.longest = _longest(self.vectors, self.chunk_ids)
        """The greatest length of a vector: bounds what float32 may get wrong."""

    def queries(self, batch: pa.Table) -> tuple[Ints, Vectors]:
        """The rows that have a query vector, and those (n_valid, dim)."""
        vectors, valid = matrix(batch["vector"])
        if not np.isfinite(vectors).all():
            raise RowError("the query vector has NaN or infinite values")
        if len(self.vectors) and vectors.shape[1] != self.vectors.shape[1]:
            raise ConfigError(
                f"query vectors have {vectors.shape[1]} dimensions, the stored ones "
                f"{self.vectors.shape[1]}: both must come from one embedder"
            )
        return np.flatnonzero(valid), vectors

    def groups(self, batch: pa.Table, rows: Ints) -> Iterator[tuple[Ints, Mask | None]]:
        """Of the questions `rows`, those who see the same: (places in `rows`, mask or None)."""
        if self.visibility is None:
            yield np.arange(len(rows)), None
            return
        group, masks = self.visibility.groups(batch["principals"])
        for number, mask in enumerate(masks):
            yield np.flatnonzero(group[rows] == number), mask

    def blocks(self, visible: Mask | None, size: int) -> Iterator[Ints]:
        """The visible rows, `size` at a time."""
        rows = np.arange(len(self.vectors)) if visible is None else np.flatnonzero(visible)
        for start in range(0, len(rows), size):
            yield rows[start : start + size]

    def places(self, chunk_ids: pa.Array) -> tuple[Ints, Ints]:
        """Which of `chunk_ids` lie here, and in which rows."""
        found = pc.index_in(chunk_ids, value_set=self.chunk_ids)
        here = np.flatnonzero(found.is_valid())
        return here, found.drop_null().to_numpy().astype(np.int64)

    def found(self, batch: pa.Table, rows: Ints, places: Ints, scores: Floats) -> pa.Table:
        """FOUND of hits given as (row of the batch, place here, score), best first in a row.

        Questions without a vector are null: not run.
        """
        order = np.argsort(rows, kind="stable")
        items = hit_array(self.chunk_ids.take(pa.array(places[order])), scores[order])
        absent = batch["vector"].is_null().to_numpy()
        column = lists(rows[order], items, batch.num_rows, null=absent)
        nothing = pa.nulls(batch.num_rows, TEXT)
        return pa.table([batch["question_id"], column.cast(HITS), nothing], schema=FOUND)


def hit_array(chunk_ids: pa.Array, scores: Floats) -> pa.Array:
    """An array of HIT."""
    return pa.StructArray.from_arrays([chunk_ids, pa.array(scores)], fields=list(HIT))


def load_vectors(
    shard: Shard, own: Callable[[pa.Array], Mask] | None = None
) -> tuple[pa.Array, Vectors]:
    """(chunk ids, vectors), sorted by id; of all chunks, or of those that `own` picks.

    Holds each vector twice for a moment, not more.
    """
    ids, parts = [pa.array([], TEXT)], []
    for table in shard.tables("vectors"):
        keep = table["vector"].is_valid()
        if own is not None:
            keep = pc.and_(keep, pa.array(own(combined(table["chunk_id"]))))
        kept = table if pc.all(keep).as_py() else table.filter(keep)
        ids.append(combined(kept["chunk_id"]))
        parts.append(matrix(kept["vector"])[0])
    chunk_ids = pa.concat_arrays(ids)
    order = pc.sort_indices(chunk_ids).to_numpy()
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    vectors = np.empty((len(order), parts[0].shape[1] if parts else 0), np.float32)
    start = 0
    for part in parts:
        vectors[place[start : start + len(part)]] = part
        start += len(part)
    return chunk_ids.take(pa.array(order)), vectors


def _visibility(shard: Shard, config: Filter, chunk_ids: pa.Array) -> Visibility:
    chunks = metadata(shard)
    place = pc.index_in(chunk_ids, value_set=combined(chunks["chunk_id"]))
    if place.null_count:
        raise RunError(
            f"{place.null_count} of {plural(len(chunk_ids), 'vector')} belong to no chunk of "
            f"their shard: "
            f"vectors and chunks don't come from the same run"
        )
    return Visibility(config, chunks.take(place), shard.table("catalogue"))


def _longest(vectors: Vectors, chunk_ids: pa.Array) -> float:
    squares = [0.0]
    for start in range(0, len(vectors), BLOCK):
        block = vectors[start : start + BLOCK]
        square = np.einsum("ij,ij->i", block, block, dtype=np.float64)
        if not np.isfinite(square).all():
            wrong = chunk_ids[start + int(np.argmin(np.isfinite(square)))]
            raise RunError(f"the stored vector of chunk {wrong} has NaN or infinite values")
        squares.append(float(square.max()))
    return float(np.sqrt(max(squares)))
