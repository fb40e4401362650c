"""Vectors without a model: character n-grams hashed into signed buckets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import polars as pl

from rayeval.columns import Ints
from rayeval.retrieve.dense.vectors import Vectors, unit

Words = npt.NDArray[np.uint64]

BLOCK = 1024
"""Texts at once: bounds memory."""


class HashedEmbedder:
    """Inner products of these vectors estimate how many n-grams two texts share.

    Counts are whole numbers, so vectors are the same on every machine.
    Source: Weinberger et al. 2009, doi:10.1145/1553374.1553516, with a sign bit.
    """

    def __init__(self, *, dim: int, n: int) -> None:
        self.dim = dim
        self.n = n

    def embed(self, texts: Sequence[str]) -> tuple[Vectors, Ints]:
        """Vectors (n_texts, dim), and how many n-grams each text has."""
        blocks = [self._block(texts[i : i + BLOCK]) for i in range(0, len(texts), BLOCK)]
        vectors = np.concatenate([np.empty((0, self.dim), np.float32), *(v for v, _ in blocks)])
        return vectors, np.concatenate([np.empty(0, np.int64), *(t for _, t in blocks)])

    def _block(self, texts: Sequence[str]) -> tuple[Vectors, Ints]:
        points, lengths = code_points(texts)
        hashes = _ngram_hashes(points, self.n)
        ends = np.cumsum(lengths)
        owner = np.repeat(np.arange(len(texts)), lengths)[: len(hashes)]
        inside = np.arange(len(hashes)) + self.n <= ends[owner]
        owner, hashes = owner[inside], hashes[inside]
        bucket = (hashes % np.uint64(self.dim)).astype(np.int64)
        sign = 1.0 - 2.0 * (hashes >> np.uint64(63)).astype(np.float64)
        cells = len(texts) * self.dim
        counts = np.bincount(owner * self.dim + bucket, weights=sign, minlength=cells).astype(float)
        tokens = np.bincount(owner, minlength=len(texts)).astype(np.int64)
        return unit(counts.reshape(-1, self.dim)), tokens


def code_points(texts: Sequence[str]) -> tuple[Words, Ints]:
    """All code points in a row, and how many each text has.

    Case, width and Unicode form are folded, white space is one space, and a space stands at either
    end, so that n-grams know where words begin.
    """
    folded = (
        pl.Series(texts, dtype=pl.String)
        .str.normalize("NFKC")
        .str.to_lowercase()
        .str.replace_all(r"\s+", " ")
        .str.strip_chars(" ")
    )
    padded = pl.select(pl.concat_str(pl.lit(" "), folded, pl.lit(" "))).to_series()
    joined = "".join(padded.to_list())
    points = np.frombuffer(joined.encode("utf-32-le"), dtype=np.uint32).astype(np.uint64)
    return points, padded.str.len_chars().to_numpy().astype(np.int64)


def _ngram_hashes(points: Words, n: int) -> Words:
    """A hash of every run of `n` code points, by where it begins; well mixed (splitmix64)."""
    if len(points) < n:
        return np.empty(0, np.uint64)
    windows = len(points) - n + 1
    hashes = np.zeros(windows, np.uint64)
    for offset in range(n):
        hashes ^= points[offset : offset + windows]
        hashes += np.uint64(0x9E3779B97F4A7C15)
        hashes = (hashes ^ (hashes >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        hashes = (hashes ^ (hashes >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        hashes ^= hashes >> np.uint64(31)
    return hashes
