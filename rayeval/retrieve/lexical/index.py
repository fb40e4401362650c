"""A shard's BM25 weights by term, and the scores of questions over its chunks.

Source: Robertson & Zaragoza 2009, doi:10.1561/1500000019, in Lucene's variant (Kamphuis et al.
2020, doi:10.1007/978-3-030-45442-5_4): the idf can't be negative and tf is not scaled by k1 + 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_array

from rayeval.columns import Floats, Ints, combined, flatten
from rayeval.retrieve.lexical.terms import TERMS, encode
from rayeval.tables import empty

BLOCK_BYTES = 8 * 2**20
"""Scores of a block of questions over a shard's chunks take no more (or one question's do). Larger
blocks were slower: they leave the processor's cache."""


class Corpus:
    """What weights need to know of the whole corpus; statistics: STATISTICS."""

    def __init__(self, statistics: pa.Table) -> None:
        chunks, occurrences = (statistics[n].to_numpy() for n in ("chunks", "occurrences"))
        self.mean_length = float(occurrences[0] / max(chunks[0], 1))
        self._terms = combined(statistics["term"].slice(1))
        # One array for every shard, since a logarithm's last bit may depend on its place in a
        # vector; the last entry is for terms that no chunk holds.
        held = np.append(chunks[1:], 0)
        self._idf = np.log(1 + (chunks[0] - held + 0.5) / (held + 0.5))

    def idf(self, terms: pa.Array) -> Floats:
        """ln(1 + (N − df + ½) / (df + ½)) of each term."""
        places = pc.index_in(terms, value_set=self._terms)
        picked: Floats = self._idf[pc.fill_null(places, len(self._terms)).to_numpy()]
        return picked


def weigh(idf: Floats, counts: Ints, lengths: Ints, *, k1: float, b: float, mean: float) -> Floats:
    """What a term adds to the score of a chunk: idf · tf / (tf + k1 (1 − b + b · length / mean)).

    idf, counts (≥ 1), lengths: (n_postings,), of the term, of it in the chunk, of the chunk.
    """
    return idf * counts / (counts + k1 * (1 - b + b * lengths / mean))


class Index:
    """The weights of a shard's chunks, term by term.

    A score is the float64 sum over the question's distinct terms in code point order, of each
    term's count in the question times its weight: the same bits in any shard and any batch.
    """

    def __init__(self, parts: Iterable[pa.Table], corpus: Corpus, *, k1: float, b: float) -> None:
        """parts: the shard's TERMS."""
        table = pa.concat_tables([empty(TERMS), *parts]).sort_by("chunk_id")
        self.chunk_ids = combined(table["chunk_id"])
        """In code point order, which is what settles ties."""
        rows, terms = flatten(table["terms"])
        self._terms, codes = encode(terms)
        counts = flatten(table["counts"])[1].to_numpy()
        starts = np.searchsorted(rows, np.arange(table.num_rows + 1))
        shape = (table.num_rows, len(self._terms))
        by_term = csr_array((counts, codes, starts), shape=shape).tocsc()
        self._starts, self._chunks = by_term.indptr, by_term.indices.astype(np.int64)
        held = np.diff(self._starts)
        idf = np.repeat(corpus.idf(self._terms), held)
        lengths = table["length"].to_numpy()[self._chunks]
        self._weights = weigh(idf, by_term.data, lengths, k1=k1, b=b, mean=corpus.mean_length)
        # Adding whole rows is several times faster than picking out most of their places.
        self._common: dict[int, Floats] = {}
        for code in np.flatnonzero(held > table.num_rows / 2).tolist():
            self._common[code] = self._row(code)

    def scores(self, questions: pa.ListArray) -> Iterator[tuple[int, Floats]]:
        """Blocks of questions: the first one's row, and scores (n_questions, n_chunks), 0 where no
        term is shared.

        questions: the terms of each, with repeats.
        """
        n_chunks = len(self.chunk_ids)
        rows, codes, times = self._known(questions)
        block = max(BLOCK_BYTES // (8 * max(n_chunks, 1)), 1)
        for first in range(0, len(questions), block):
            scores = np.zeros((min(block, len(questions) - first), n_chunks))
            here = slice(*np.searchsorted(rows, [first, first + block]))
            asked = rows[here] - first, codes[here], times[here]
            for row, code, count in zip(*(part.tolist() for part in asked), strict=True):
                chunks, weights = self._postings(code)
                scores[row][chunks] += count * weights
            yield first, scores

    def _postings(self, code: int) -> tuple[Ints | slice, Floats]:
        if code in self._common:
            return slice(None), self._common[code]
        held = slice(self._starts[code], self._starts[code + 1])
        return self._chunks[held], self._weights[held]

    def _row(self, code: int) -> Floats:
        chunks, weights = self._postings(code)
        row = np.zeros(len(self.chunk_ids))
        row[chunks] = weights
        return row

    def _known(self, questions: pa.ListArray) -> tuple[Ints, Ints, Ints]:
        """(row, term, times) of every distinct term that the shard holds, in that order."""
        rows, terms = flatten(questions)
        codes = pc.index_in(terms, value_set=self._terms)
        keys = rows * len(self._terms) + pc.fill_null(codes, 0).to_numpy()
        shared = codes.is_valid().to_numpy(zero_copy_only=False)
        distinct, times = np.unique(keys[shared], return_counts=True)
        return *np.divmod(distinct, len(self._terms)), times


def leading(scores: Floats, depth: int) -> tuple[Ints, Ints]:
    """(row, column) of each row's `depth` best scores above 0, of all their ties at the cut, and
    perhaps of a few more.

    The columns are dealt into lanes: the depth-th best of the lanes' maxima is a score that at
    least `depth` columns reach, found in one pass and not far below the depth-th best of all.
    """
    n_columns = scores.shape[1]
    floor = np.zeros(len(scores))
    if n_columns > depth:
        deals = max(n_columns // (8 * depth), 1)
        lanes = n_columns // deals
        best = scores[:, : deals * lanes].reshape(len(scores), deals, lanes).max(axis=1)
        floor = np.partition(best, lanes - depth, axis=1)[:, lanes - depth]
    found = scores >= np.maximum(floor, np.nextafter(0, 1))[:, None]
    row, column = np.divmod(np.flatnonzero(found), n_columns)
    return row, column
