"""Exact dense search against a bare `faiss.knn`: python tests/bench/exact.py [questions chunks dim].

Both find the 100 nearest of the same vectors with the same threads; ours orders ties by id, gives
scores that no batch or shard changes, and proves that none is missing. Prints both times, their
ratio (0.9 or more is the bar), and the peak memory of loading and searching.
"""

from __future__ import annotations

import resource
import sys
import time
from statistics import median

import faiss
import numpy as np
import pyarrow as pa

from rayeval.retrieve.dense.config import Dense, Hashed
from rayeval.retrieve.dense.exact import ExactSearch
from rayeval.retrieve.dense.vectors import unit, vector_column
from rayeval.retrieve.filter import Filter

DEPTH = 100


class Synthetic:
    """One shard of random unit vectors, in partitions that are made when they are read."""

    number, count = 0, 1

    def __init__(self, chunks: int, dim: int) -> None:
        self.chunks, self.dim = chunks, dim

    def tables(self, name):
        for start in range(0, self.chunks, 10_000):
            size = min(10_000, self.chunks - start)
            rng = np.random.default_rng([7, start])
            vectors = unit(rng.standard_normal((size, self.dim), np.float32))
            ids = [f"{i:032x}" for i in rng.permutation(np.arange(start, start + size))]
            yield pa.table(
                {"chunk_id": pa.array(ids, pa.large_string()), "vector": vector_column(vectors)}
            )


def seconds(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main(questions: int = 2_000, chunks: int = 200_000, dim: int = 384) -> None:
    stage = ExactSearch(Dense(embedder=Hashed(), depth=DEPTH), Filter()).load(
        Synthetic(chunks, dim)
    )
    queries = unit(np.random.default_rng(1).standard_normal((questions, dim), np.float32))
    ids = pa.array([f"q{i}" for i in range(questions)], pa.large_string())
    batch = pa.table({"question_id": ids, "vector": vector_column(queries)})
    vectors, metric = stage.store.vectors, faiss.METRIC_INNER_PRODUCT
    faiss.knn(queries[:64], vectors, DEPTH, metric=metric)  # warm-up
    bare, ours = [], []
    for _ in range(7):
        bare.append(seconds(lambda: faiss.knn(queries, vectors, DEPTH, metric=metric)))
        ours.append(seconds(lambda: stage(batch)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    size = vectors.nbytes / 2**30
    ratio = median(b / o for b, o in zip(bare, ours, strict=True))
    print(f"faiss.knn {min(bare):.2f} s, exact search {min(ours):.2f} s (best of {len(bare)})")
    print(f"ratio {ratio:.3f} (bar: 0.9), the median of {len(bare)} pairs")
    print(f"peak memory {peak:.2f} GiB for {size:.2f} GiB of vectors (bar: {2 * size + 1:.2f} GiB)")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
