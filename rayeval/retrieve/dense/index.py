"""FAISS indexes: built the same every time, searched without a look at who shares the batch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from rayeval.columns import Ints
from rayeval.errors import ConfigError, MissingExtraError
from rayeval.retrieve.dense.config import Ann, Hnsw, IvfPq
from rayeval.retrieve.dense.store import Mask
from rayeval.retrieve.dense.vectors import Vectors
from rayeval.words import plural

Bytes = npt.NDArray[np.uint8]

TOGETHER = 16
"""Queries per call to an inverted-list index. From 20 on, faiss finds the nearest lists by a matrix
product, whose last bits, and so sometimes the lists, depend on how many queries there are."""

GPU_MOST = 2048
"""The most neighbours and probes that faiss allows on a GPU."""


def load_faiss() -> Any:
    """The module. Raises MissingExtraError without it."""
    try:
        import faiss
    except ImportError as error:
        raise MissingExtraError.of("faiss", "faiss", why="an approximate index") from error
    return faiss


def build_index(vectors: Vectors, config: Ann) -> Bytes:
    """An index over `vectors` (n, dim), n > 0, serialised; an Hnsw without the vectors themselves.

    Raises ConfigError if there are too few vectors for it.
    """
    faiss = load_faiss()
    with _one_thread(faiss):
        make = _hnsw if isinstance(config, Hnsw) else _inverted
        index = make(faiss, vectors, config)
        index.add(vectors)
        writer = faiss.VectorIOWriter()
        faiss.write_index(index, writer, faiss.IO_FLAG_SKIP_STORAGE)
        del index  # it may be as large as the vectors
    serialised: Bytes = faiss.vector_to_array(writer.data)
    return serialised


def _hnsw(faiss: Any, vectors: Vectors, config: Any) -> Any:
    index = faiss.IndexHNSWFlat(vectors.shape[1], config.m, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = config.ef_construction
    index.hnsw.rng = faiss.RandomGenerator(config.seed)
    return index


def _inverted(faiss: Any, vectors: Vectors, config: Any) -> Any:
    count, dim = vectors.shape
    centres = faiss.IndexFlatIP(dim)
    _enough("lists", config.lists, count, config)
    if isinstance(config, IvfPq):
        if dim % config.subvectors:
            raise ConfigError(
                f"ivf_pq cuts vectors into {config.subvectors} `subvectors`, which doesn't divide "
                f"their length, {dim}"
            )
        _enough("codes (2 to the power of `bits`)", 2**config.bits, count, config)
        shape = centres, dim, config.lists, config.subvectors, config.bits
        index = faiss.IndexIVFPQ(*shape, faiss.METRIC_INNER_PRODUCT)
        index.pq.cp.seed = config.seed
        index.pq.cp.min_points_per_centroid = 1
    else:
        index = faiss.IndexIVFFlat(centres, dim, config.lists, faiss.METRIC_INNER_PRODUCT)
    index.cp.seed = config.seed
    index.cp.min_points_per_centroid = 1  # else faiss writes warnings to the terminal
    index.train(vectors)
    return index


def _enough(what: str, needed: int, count: int, config: Any) -> None:
    if needed > count:
        raise ConfigError(
            f"{config.kind} needs at least as many vectors as it has {what}: {needed} are "
            f"configured, but one of its {plural(config.partitions, 'partition')} holds "
            f"{plural(count, 'vector')}"
        )


class Index:
    """A built index and the vectors (n, dim) it is over; on a GPU where faiss can put it on one."""

    def __init__(self, serialised: Bytes, vectors: Vectors, config: Ann) -> None:
        self.faiss = load_faiss()
        self.config = config
        self.index = self.faiss.deserialize_index(serialised)
        self.vectors = vectors
        if isinstance(config, Hnsw):
            self.storage = self.faiss.IndexFlatIP(vectors.shape[1])
            self.storage.add(vectors)
            self.index.storage = self.storage
            flat = self.faiss.rev_swig_ptr(self.storage.get_xb(), vectors.size)
            self.vectors = flat.reshape(vectors.shape)  # one copy in memory, not two
        self.gpu = self._on_gpu()

    def nearest(self, queries: Vectors, k: int, visible: Mask | None) -> Ints:
        """The `k` neighbours that the index finds for every query, (n_queries, k), -1 past them.

        k: at most the number of visible vectors. Where a filter leaves a query with fewer, it is
        searched again with twice the effort, up to the whole index.
        """
        effort, most = self._effort(k)
        found = self._search(queries, k, effort, visible)
        while effort < most and len(short := np.flatnonzero((found < 0).any(axis=1))):
            effort = min(2 * effort, most)
            found[short] = self._search(queries[short], k, effort, visible)
        return found

    def _effort(self, k: int) -> tuple[int, int]:
        """What the configuration asks for, and what looks at everything."""
        if isinstance(self.config, Hnsw):
            return max(self.config.ef_search, k), len(self.vectors)
        return self.config.probes, self.config.lists

    def _search(self, queries: Vectors, k: int, effort: int, visible: Mask | None) -> Ints:
        on_gpu = self.gpu is not None and visible is None and max(k, effort) <= GPU_MOST
        index = self.gpu if on_gpu else self.index
        chosen = {}
        if visible is not None:
            chosen["sel"] = self.faiss.IDSelectorBitmap(np.packbits(visible, bitorder="little"))
        if isinstance(self.config, Hnsw):
            step, params = len(queries), self.faiss.SearchParametersHNSW(efSearch=effort, **chosen)
        else:
            step, params = TOGETHER, self.faiss.SearchParametersIVF(nprobe=effort, **chosen)
        starts = range(0, len(queries), step)
        parts = [index.search(queries[i : i + step], k, params=params)[1] for i in starts]
        found: Ints = np.concatenate(parts)
        return found

    def _on_gpu(self) -> Any:
        """A copy there, or None: without a GPU, or for a graph, which stays on the CPU."""
        if isinstance(self.config, Hnsw) or getattr(self.faiss, "get_num_gpus", int)() == 0:
            return None
        self.resources = self.faiss.StandardGpuResources()
        return self.faiss.index_cpu_to_gpu(self.resources, 0, self.index)


@contextmanager
def _one_thread(faiss: Any) -> Iterator[None]:
    """The order in which threads add vectors changes a graph."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
