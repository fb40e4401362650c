"""Shards of vectors, made by hand."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from rayeval.retrieve.dense.vectors import vector_column
from rayeval.tables import CATALOGUE, CHUNKS, TEXT, TEXTS, conform


@dataclass
class MadeShard:
    parts: dict[str, list[pa.Table]]
    whole: dict[str, pa.Table] = field(default_factory=dict)
    number: int = 0
    count: int = 1

    def tables(self, name: str) -> Iterator[pa.Table]:
        yield from self.parts[name]

    def table(self, name: str) -> pa.Table:
        return self.whole[name]


def vector_table(ids: list[str], vectors: np.ndarray, missing: tuple[str, ...] = ()) -> pa.Table:
    """Chunks named in `missing` have a null vector."""
    column = vector_column(vectors)
    if missing:
        here = pa.array([None if i in missing else n for n, i in enumerate(ids)], pa.int64())
        column = column.take(here)
    return pa.table({"chunk_id": pa.array(ids, TEXT), "vector": column})


def chunk_table(ids: list[str], access: list[list[str]] | None = None) -> pa.Table:
    """Chunk `x` comes from revision `r-x` of source `s-x`."""
    return conform(
        pa.table(
            {
                "chunk_id": pa.array(ids, TEXT),
                "source_id": pa.array([f"s-{i}" for i in ids], TEXT),
                "revision_id": pa.array([f"r-{i}" for i in ids], TEXT),
                "access": pa.array(access or [[] for _ in ids], TEXTS),
            }
        ),
        CHUNKS,
    )


def catalogue_of(ids: list[str], stale: tuple[str, ...] = ()) -> pa.Table:
    rows = {
        "source_id": pa.array([f"s-{i}" for i in ids], TEXT),
        "revision_id": pa.array([f"r-{i}" for i in ids], TEXT),
        "current": pa.array([i not in stale for i in ids]),
    }
    return conform(pa.table(rows), CATALOGUE)


def question_table(
    vectors: np.ndarray, principals: list[list[str]] | None = None, missing: tuple[int, ...] = ()
) -> pa.Table:
    count = len(vectors)
    column = vector_column(vectors)
    if missing:
        here = pa.array([None if n in missing else n for n in range(count)], pa.int64())
        column = column.take(here)
    return pa.table(
        {
            "question_id": pa.array([f"q{n}" for n in range(count)], TEXT),
            "vector": column,
            "principals": pa.array(principals or [[] for _ in range(count)], TEXTS),
        }
    )


@pytest.fixture(scope="session")
def made() -> SimpleNamespace:
    """How to make a shard's tables and a batch of questions."""
    return SimpleNamespace(
        shard=MadeShard,
        vectors=vector_table,
        chunks=chunk_table,
        catalogue=catalogue_of,
        questions=question_table,
    )
