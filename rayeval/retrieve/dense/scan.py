"""The nearest vectors in float32: candidates, whose scores are then recomputed exactly."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from rayeval.columns import Ints
from rayeval.errors import MissingExtraError
from rayeval.retrieve.dense.config import Backend
from rayeval.retrieve.dense.store import BLOCK, Mask, Store
from rayeval.retrieve.dense.vectors import Vectors

SCORES = 1 << 24
"""Scores held at once by `numpy` and `torch`: 64 MiB."""


class Scanner(Protocol):
    """Finds the best of a shard's vectors by inner product."""

    def top(self, queries: Vectors, k: int, visible: Mask | None) -> tuple[Vectors, Ints]:
        """Scores and rows (n_queries, k) of the best visible vectors, in any order.

        k: at most the number of visible vectors.
        """
        ...


def build_scanner(backend: Backend, store: Store) -> Scanner:
    """What scans `store`; `auto` takes faiss where it is installed, else numpy."""
    if backend in ("auto", "faiss"):
        try:
            import faiss

            return _Faiss(faiss, store)
        except ImportError as error:
            if backend == "faiss":
                raise MissingExtraError.of("faiss", "faiss", why="backend faiss") from error
    if backend == "torch":
        try:
            import torch
        except ImportError as error:
            raise MissingExtraError.of("torch", "models", why="backend torch") from error
        return _Torch(torch, store)
    return _Numpy(store)


class _Faiss:
    def __init__(self, faiss: Any, store: Store) -> None:
        self.faiss = faiss
        self.store = store

    def top(self, queries: Vectors, k: int, visible: Mask | None) -> tuple[Vectors, Ints]:
        if visible is None:
            return self._knn(queries, self.store.vectors, k)
        best = _nothing(queries)
        for rows in self.store.blocks(visible, BLOCK):
            scores, ids = self._knn(queries, self.store.vectors[rows], min(k, len(rows)))
            best = _better(best, (scores, rows[ids]), k)
        return best

    def _knn(self, queries: Vectors, vectors: Vectors, k: int) -> tuple[Vectors, Ints]:
        """By matrix products for any number of queries: below some hundreds, faiss by itself takes
        a way that is ten times slower, to give the same bits in any batch, which rescoring does."""
        settings, usual = self.faiss.cvar, self.faiss.cvar.distance_compute_blas_threshold
        settings.distance_compute_blas_threshold = 1
        try:
            metric = self.faiss.METRIC_INNER_PRODUCT
            scores, ids = self.faiss.knn(queries, vectors, k, metric=metric)
        finally:
            settings.distance_compute_blas_threshold = usual
        return scores, ids


class _Numpy:
    def __init__(self, store: Store) -> None:
        self.store = store

    def top(self, queries: Vectors, k: int, visible: Mask | None) -> tuple[Vectors, Ints]:
        best = _nothing(queries)
        for rows in self.store.blocks(visible, max(1, SCORES // len(queries))):
            scores = queries @ self.store.vectors[rows].T
            best = _better(best, (scores, np.broadcast_to(rows, scores.shape)), k)
        return best


class _Torch:
    """On CUDA or MPS where there is one; the vectors lie there as long as the shard does."""

    def __init__(self, torch: Any, store: Store) -> None:
        device = "mps" if torch.backends.mps.is_available() else "cpu"
        self.device = "cuda" if torch.cuda.is_available() else device
        torch.backends.cuda.matmul.allow_tf32 = False  # candidates rest on float32's rounding
        self.torch = torch
        self.store = store
        self.vectors = torch.from_numpy(store.vectors).to(self.device)

    def top(self, queries: Vectors, k: int, visible: Mask | None) -> tuple[Vectors, Ints]:
        best = _nothing(queries)
        asked = self.torch.from_numpy(queries).to(self.device)
        for rows in self.store.blocks(visible, max(1, SCORES // len(queries))):
            places = self.torch.from_numpy(rows).to(self.device)
            scores = asked @ self.vectors[places].T
            found, ids = self.torch.topk(scores, min(k, len(rows)), dim=1, sorted=False)
            best = _better(best, (found.cpu().numpy(), rows[ids.cpu().numpy()]), k)
        return best


def _nothing(queries: Vectors) -> tuple[Vectors, Ints]:
    return np.empty((len(queries), 0), np.float32), np.empty((len(queries), 0), np.int64)


def _better(best: tuple[Vectors, Ints], more: tuple[Vectors, Ints], k: int) -> tuple[Vectors, Ints]:
    """The `k` best of both, in any order."""
    scores = np.concatenate([best[0], more[0]], axis=1)
    rows = np.concatenate([best[1], more[1]], axis=1)
    if scores.shape[1] <= k:
        return scores, rows
    chosen = np.argpartition(scores, -k, axis=1)[:, -k:]
    return np.take_along_axis(scores, chosen, axis=1), np.take_along_axis(rows, chosen, axis=1)
