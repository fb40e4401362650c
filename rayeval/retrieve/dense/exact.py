"""Exact search: the same hits, bit for bit, whatever scans, however shards and batches are cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pyarrow as pa

from rayeval.columns import Floats, Ints
from rayeval.retrieve.dense.config import Dense
from rayeval.retrieve.dense.scan import Scanner, build_scanner
from rayeval.retrieve.dense.store import Mask, Store
from rayeval.retrieve.dense.vectors import ELEMENTS, Vectors, exact_scores
from rayeval.retrieve.filter import Filter
from rayeval.retrieve.merge import merge_found
from rayeval.stage import Shard, Stage

CANDIDATES = 1 << 22
"""Candidates of all questions held at once while many tie."""


class ExactSearch:
    """The `depth` nearest chunks of every question: a scatter over vectors.

    Batch: `question_id`, `vector`, and `principals` where the filter asks. Result: FOUND.
    """

    def __init__(self, config: Dense, filtering: Filter) -> None:
        self.config = config
        self.filtering = filtering

    def load(self, shard: Shard) -> Stage:
        """Needs `vectors` and, to filter, `chunks` and `catalogue`."""
        store = Store(shard, self.filtering)
        return _Exact(store, build_scanner(self.config.backend, store), self.config.depth)

    def gather(self, parts: Sequence[pa.Table]) -> pa.Table:
        """The best of all shards."""
        return merge_found(parts, self.config.depth)


class _Exact:
    def __init__(self, store: Store, scanner: Scanner, depth: int) -> None:
        self.store = store
        self.scanner = scanner
        self.depth = depth

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Raises RowError if a query vector isn't finite."""
        rows, queries = self.store.queries(batch)
        found = [(rows[:0], rows[:0], np.empty(0))]
        for asked, visible in self.store.groups(batch, rows):
            places, scores = exact_top(
                self.store, self.scanner, queries[asked], self.depth, visible
            )
            owners = np.repeat(rows[asked], places.shape[1])
            found.append((owners, places.ravel(), scores.ravel()))
        return self.store.found(batch, *(np.concatenate(part) for part in zip(*found, strict=True)))


def exact_top(
    store: Store, scanner: Scanner, queries: Vectors, k: int, visible: Mask | None
) -> tuple[Ints, Floats]:
    """The `k` best visible rows of `store` for every query, by (-exact score, row).

    Candidates come by float32 scores. A row that was not fetched scores at most the worst fetched
    one by that measure; where the k-th exact score doesn't beat this by more than rounding can
    move it (duplicates do that), twice as many are fetched.
    Returns rows and scores (n_queries, min(k, n_visible)).
    """
    total = len(store.vectors) if visible is None else int(visible.sum())
    k = min(k, total)
    places, scores = np.zeros((len(queries), k), np.int64), np.zeros((len(queries), k))
    bound = rounding(queries, store.longest)
    # Neighbours lie closer together further down, so the first margin grows with the depth.
    open_, fetch = np.arange(len(queries) if k else 0), min(total, k + 2 + k // 32)
    while len(open_):
        again = []
        for part in _parts(open_, fetch):
            rough, rows = scanner.top(queries[part], fetch, visible)
            rows, exact = ranked(store.vectors, queries[part], np.sort(rows, axis=1))
            places[part], scores[part] = rows[:, :k], exact[:, :k]
            if fetch < total:
                again.append(part[exact[:, k - 1] <= rough.min(axis=1) + bound[part]])
        open_, fetch = np.concatenate([open_[:0], *again]), min(total, 2 * fetch)
    return places, scores


def ranked(vectors: Vectors, queries: Vectors, rows: Ints) -> tuple[Ints, Floats]:
    """`rows` (n_queries, n), ascending, in order of (-exact score, row), with those scores."""
    scores = np.empty(rows.shape)
    wide = max(1, min(rows.shape[1], ELEMENTS // vectors.shape[1]))
    high = max(1, ELEMENTS // (wide * vectors.shape[1]))

    def fill(corner: tuple[int, int]) -> None:
        down, across = (slice(a, a + b) for a, b in zip(corner, (high, wide), strict=True))
        block = vectors[rows[down, across]]
        scores[down, across] = exact_scores(queries[down, None, :], block)

    corners = product(range(0, len(rows), high), range(0, rows.shape[1], wide))
    with ThreadPoolExecutor(pa.cpu_count()) as threads:
        list(threads.map(fill, corners))
    order = np.argsort(-scores, axis=1, kind="stable")
    return np.take_along_axis(rows, order, axis=1), np.take_along_axis(scores, order, axis=1)


def rounding(queries: Vectors, longest: float) -> Floats:
    """What a float32 inner product may be off by, (n_queries,), in any order of summation.

    Source: Higham 2002, Accuracy and Stability of Numerical Algorithms, §3.1: d·u·|q|·|x|.
    """
    wide = queries.astype(np.float64)
    length = np.sqrt((wide * wide).sum(axis=1))
    unit_roundoff = 2.0**-24
    tiny = float(np.finfo(np.float32).tiny)
    bound: Floats = (queries.shape[1] + 8) * unit_roundoff * length * longest + tiny
    return bound


def _parts(rows: Ints, fetch: int) -> Iterator[Ints]:
    step = max(1, CANDIDATES // fetch)
    for start in range(0, len(rows), step):
        yield rows[start : start + step]
