"""Questions that say nearly the same, in any script, without comparing all with all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from rayeval.columns import Floats, Ints

Codes = npt.NDArray[np.uint64]

LEAST = 0.6
"""Texts are nearly the same when this share of all their grams is in both."""
GRAM = 3
BANDS, ROWS = 32, 4
"""A pair of similarity s is compared with probability 1 - (1 - s**ROWS)**BANDS: .99 at LEAST."""
NEIGHBOURS = 32
"""How many others of one bucket each is compared with; only large families of questions that
differ in a word have more, and each of these has its likeness found anyway."""


NEAR = 0.4
"""Share of all grams that is in both, from which a question is worth a second look."""


@dataclass(frozen=True)
class Pairs:
    """left, right, similarity: (n_pairs,), row numbers left < right, Jaccard in [LEAST, 1]."""

    left: Ints
    right: Ints
    similarity: Floats


def plain(texts: pl.Series) -> pl.Series:
    """What counts of a text: letters and digits, case, accents and punctuation aside.

    Hangul comes apart into its letters, so that a changed particle is a small change.
    """
    decomposed = texts.str.normalize("NFKD").str.to_lowercase().str.replace_all(r"\p{M}+", "")
    return decomposed.str.replace_all(r"[^\p{L}\p{N}]+", " ").str.strip_chars()


def similar(texts: pl.Series) -> Pairs:
    """Every pair of `texts` found to be nearly the same, by row, each once.

    Source: Broder 1997, doi:10.1109/SEQUEN.1997.666900 (MinHash), buckets by bands of hashes;
    the similarity of the pairs so found is exact.
    """
    rows, codes = _grams(plain(texts))
    kinds, columns = np.unique(codes, return_inverse=True)
    pairs = _candidates(rows, kinds, columns)
    similarity = _similarity(rows, columns, pairs, len(texts))
    kept = similarity >= LEAST
    return Pairs(pairs[kept, 0], pairs[kept, 1], similarity[kept])


def near(question: str, others: pl.DataFrame, *, most: int = 3) -> pl.DataFrame:
    """The rows of `others` whose questions are most like `question`, the nearest first.

    others: has `question_id` and `question`.
    Returns them with `similarity` in [NEAR, 1], as `similar` has it.
    """
    texts = pl.concat([pl.Series("question", [question]), others["question"]])
    rows, codes = _grams(plain(texts))
    _, columns = np.unique(codes, return_inverse=True)
    ahead = np.arange(1, len(texts))
    pairs = np.stack([np.zeros_like(ahead), ahead], axis=1)
    shares = _similarity(rows, columns, pairs, len(texts))
    found = others.with_columns(similarity=pl.Series(shares, dtype=pl.Float64))
    found = found.filter(pl.col("similarity") >= NEAR)
    return found.sort("similarity", "question_id", descending=[True, False]).head(most)


def _similarity(rows: Ints, columns: Ints, pairs: Ints, n: int) -> Floats:
    """(n_pairs,), of all grams of the two the share that both have.

    rows, columns: (n_grams,), whose gram it is, and which. n: how many texts there are.
    """
    shape = (n, int(columns.max(initial=0)) + 1)
    matrix = sparse.csr_array((np.ones(len(rows), np.int32), (rows, columns)), shape=shape)
    sizes = np.bincount(rows, minlength=n)
    both = np.concatenate([[0], *(_shared(matrix, part) for part in np.array_split(pairs, 64))])[1:]
    similarity: Floats = both / np.maximum(1, sizes[pairs[:, 0]] + sizes[pairs[:, 1]] - both)
    return similarity


def _shared(matrix: sparse.csr_array, pairs: Ints) -> Ints:
    """(n_pairs,), how many grams the two have in common."""
    return np.asarray(matrix[pairs[:, 0]].multiply(matrix[pairs[:, 1]]).sum(axis=1)).ravel()


def _grams(texts: pl.Series) -> tuple[Ints, Codes]:
    """(row, gram) of every distinct run of GRAM characters, by row; a space at either end."""
    padded = (" " + texts.filter(texts != "") + " ").to_list()
    which = np.flatnonzero((texts != "").to_numpy()).astype(np.int64)
    letters = np.frombuffer("".join(padded).encode("utf-32-le"), np.uint32).astype(np.uint64)
    lengths = np.fromiter(map(len, padded), np.int64, len(padded))
    owner = np.repeat(which, lengths)
    if len(letters) < GRAM:
        return np.empty(0, np.int64), np.empty(0, np.uint64)
    codes = sum(letters[i : len(letters) - GRAM + 1 + i] << np.uint64(21 * i) for i in range(GRAM))
    inside = owner[: 1 - GRAM] == owner[GRAM - 1 :]
    frame = pl.DataFrame({"row": owner[: 1 - GRAM][inside], "gram": np.asarray(codes)[inside]})
    frame = frame.unique().sort("row", "gram")
    return frame["row"].to_numpy(), frame["gram"].to_numpy()


def _candidates(rows: Ints, kinds: Codes, columns: Ints) -> Ints:
    """(n_pairs, 2), rows that share a bucket, sorted, each pair once.

    rows, columns: (n_grams,), whose gram it is, by row, and which of `kinds`.
    """
    owners, starts = np.unique(rows, return_index=True)
    found = [np.empty((0, 2), np.int64)]
    for band in range(BANDS):
        keys = np.zeros(len(owners), np.uint64)
        for number in range(band * ROWS, (band + 1) * ROWS):
            hashes = _mixed(kinds, number)[columns]
            least = np.minimum.reduceat(hashes, starts) if len(owners) else keys
            keys = _mixed(keys ^ least, number)
        order = np.argsort(keys, kind="stable")
        for step in range(1, NEIGHBOURS + 1):
            ahead, behind = order[step:], order[:-step]
            same = keys[ahead] == keys[behind]
            if not same.any():
                break
            found.append(np.stack([owners[behind[same]], owners[ahead[same]]], axis=1))
    return np.unique(np.concatenate(found), axis=0)


def _mixed(values: Codes, number: int) -> Codes:
    """Hash function `number` of the values (the finaliser of splitmix64)."""
    with np.errstate(over="ignore"):
        mixed = values + np.uint64((0x9E3779B97F4A7C15 * (number + 1)) % 2**64)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return mixed ^ (mixed >> np.uint64(31))
