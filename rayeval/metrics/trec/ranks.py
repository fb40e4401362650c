"""Where a run ranks the documents that are judged, without sorting the run.

A ranking is ordered by (-score, document descending in byte order), as trec_eval orders it. The
rank of a judged document is one more than the number of its query's hits with a higher score, and
of those with the same score and a later id. So within every query only scores are sorted, and
hashes of ids to find the judged ones; whatever a hash finds is compared as text before it counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import polars as pl

from rayeval.columns import Floats, Ints
from rayeval.metrics.ranking import NEVER

Keys = npt.NDArray[np.uint64]
_PAIR = ["query", "document"]
_TOGETHER = 1 << 16
"""Hits whose keys are sorted together; few enough to stay in the processor's cache."""


@dataclass(frozen=True)
class Judged:
    """Judgements of `n` queries, and where one run ranks the judged documents."""

    queries: pl.Series
    """(n,), ids in byte order."""
    query: Ints
    """(n_judgements,), the query of each, an index of `queries`."""
    documents: pl.Series
    """(n_judgements,), ids."""
    grade: Ints
    """(n_judgements,)"""
    rank: Ints
    """(n_judgements,): 1-based; NEVER where the run doesn't have the document."""
    returned: Ints
    """(n,): how many documents the run has."""


@dataclass(frozen=True)
class Grouped:
    """A run whose hits stand together by query."""

    hits: pl.DataFrame
    queries: pl.Series
    """(n_groups,), in order of first appearance, or by id if the run had to be sorted."""
    start: Ints
    """(n_groups,), the first hit of each."""
    end: Ints

    @cached_property
    def ids(self) -> Ids:
        """Its ids, to be found by query."""
        return Ids(self.hits["document"], self.start, self.end)

    def repeated(self) -> pl.DataFrame:
        """`query, document` of what a query has more than once, each once."""
        found = self.hits[self.ids.alike].select(_PAIR)
        return found.filter(pl.struct(_PAIR).is_duplicated()).unique().sort(_PAIR)


def grouped(run: pl.DataFrame) -> Grouped:
    """`run` (`query, document, score`) by query; most runs are so already."""
    queries, bounds = _stretches(run["query"])
    if queries.is_duplicated().any():
        run = run.sort("query", maintain_order=True)
        queries, bounds = _stretches(run["query"])
    return Grouped(run, queries, bounds[:-1], bounds[1:])


def _stretches(query: pl.Series) -> tuple[pl.Series, Ints]:
    """Neighbours with the same query: its id, and (n_stretches + 1,) where they begin and end."""
    runs = query.rle().struct.unnest()
    return runs["value"], np.append(0, np.cumsum(runs["len"].to_numpy(), dtype=np.int64))


class Ids:
    """The ids of hits in stretches (one per query), to be found within a stretch.

    Every hit has a key: the upper bits are of its id's hash, the lower ones its place in the
    stretch. Sorted keys are searched instead of text.
    """

    def __init__(self, documents: pl.Series, start: Ints, end: Ints) -> None:
        self.documents, self.start, self.end = documents, start, end
        longest = int((end - start).max(initial=1))
        self._mask = np.uint64((1 << longest.bit_length()) - 1)
        self._keys = np.empty(len(documents), np.uint64)
        self._place = np.arange(longest, dtype=np.uint64)
        workers = os.cpu_count() or 1
        shares = np.searchsorted(end, np.linspace(0, len(documents), workers + 1)[1:]) + 1
        bounds = np.unique([0, *np.minimum(shares, len(end))]).tolist()
        with ThreadPoolExecutor(workers) as pool:
            found = list(pool.map(self._sort, *zip(*pairwise(bounds), strict=True)))
        self.alike = np.concatenate([np.empty(0, np.int64), *found])
        """Hits whose ids may be those of others in their stretch."""

    def rows(self, group: Ints, documents: pl.Series) -> Ints:
        """(n,): the hit of each document in its stretch, -1 where there is none.

        group: (n,), the stretch of each; -1 for no stretch.
        """
        found = np.full(len(documents), -1)
        asked = np.flatnonzero(group >= 0)
        key = self._hashes(documents.gather(asked))
        start, end = self.start[group[asked]], self.end[group[asked]]
        at = _bisect(self._keys, key, start, end)
        while len(asked):  # a second time only for ids whose hashes agree
            same = (at < end) & (self._keys[np.minimum(at, end - 1)] & ~self._mask == key)
            asked, key, end, at = asked[same], key[same], end[same], at[same]
            row = self.start[group[asked]] + (self._keys[at] & self._mask).astype(np.int64)
            equal = (self.documents.gather(row) == documents.gather(asked)).to_numpy()
            found[asked[equal]] = row[equal]
            at = at + 1
        return found

    def _sort(self, first: int, last: int) -> Ints:
        """Makes the keys of the stretches `first` up to `last`; their hits that may be alike."""
        alike = [np.empty(0, np.int64)]
        for at, to in _as_long(self.end[first:last] - self.start[first:last]):
            begin, stop = int(self.start[first + at]), int(self.end[first + to - 1])
            keys = self._keys[begin:stop].reshape(to - at, -1)
            keys[:] = self._hashes(self.documents[begin:stop]).reshape(keys.shape)
            keys |= self._place[: keys.shape[1]]
            keys.sort(axis=1)
            same = (keys[:, 1:] ^ keys[:, :-1]) <= self._mask
            if same.any():
                row, column = np.nonzero(same)
                pairs = np.concatenate([keys[row, column], keys[row, column + 1]]) & self._mask
                starts = self.start[first + at + np.concatenate([row, row])]
                alike.append(np.unique(starts + pairs.astype(np.int64)))
        return np.concatenate(alike)

    def _hashes(self, documents: pl.Series) -> Keys:
        hashes: Keys = documents.hash().to_numpy() & ~self._mask
        return hashes


def _as_long(length: Ints) -> Iterator[tuple[int, int]]:
    """(first, last + 1) of neighbours that are equally long, not too many at once."""
    changes = np.flatnonzero(np.diff(length, prepend=-1)).tolist()
    for first, last in pairwise([*changes, len(length)]):
        step = max(1, _TOGETHER // max(1, int(length[first])))
        for at in range(first, last, step):
            yield at, min(at + step, last)


def judged(run: Grouped, judgements: pl.DataFrame) -> Judged:
    """What a run makes of `judgements` (`query, document, grade`), by query and in their order."""
    judgements = judgements.sort("query", maintain_order=True)
    queries, first = _stretches(judgements["query"])
    query = np.repeat(np.arange(len(queries)), np.diff(first))
    groups = pl.DataFrame({"query": run.queries}).with_row_index("group")
    joined = queries.to_frame("query").join(groups, on="query", how="left", maintain_order="left")
    group = joined["group"].cast(pl.Int64).fill_null(-1).to_numpy()
    row = run.ids.rows(group[query], judgements["document"])
    rank = np.full(len(row), NEVER)
    there = row >= 0
    rank[there] = _ranks(run, group[query[there]], row[there])
    returned = np.append(run.end - run.start, 0)[group]  # the last one is of group -1
    grade = judgements["grade"].to_numpy()
    return Judged(queries, query, judgements["document"], grade, rank, returned)


def _ranks(run: Grouped, group: Ints, row: Ints) -> Ints:
    """(n,): the 1-based ranks of hits."""
    below = 0.0 - run.hits["score"].to_numpy()  # the best first; one zero, not two
    score, start, end = below[row], run.start[group], run.end[group]
    better = below[1:] < below[:-1]
    better[run.start[1:] - 1] = False
    rising = np.flatnonzero(better) + 1
    for unsorted in np.unique(np.searchsorted(run.start, rising, side="right") - 1).tolist():
        below[run.start[unsorted] : run.end[unsorted]].sort()
    at = _bisect(below, score, start, end)
    rank = at - start + 1
    tied = np.flatnonzero((at + 1 < end) & (below[np.minimum(at + 1, len(below) - 1)] == score))
    if len(tied):
        rank[tied] += _later(run, group[tied], row[tied])
    return rank


def _later(run: Grouped, group: Ints, row: Ints) -> Ints:
    """(n,): how many hits of the same query and score have a later id."""
    groups = np.unique(group)
    sizes = (run.end - run.start)[groups]
    shift = np.repeat(run.start[groups] - np.cumsum(sizes) + sizes, sizes)
    rows = np.arange(sizes.sum()) + shift
    hits = run.hits[rows].with_columns(row=pl.Series(rows), score=pl.col("score") + 0.0)
    ties = run.hits[row].select("query", score=pl.col("score") + 0.0).unique()
    hits = hits.join(ties, on=["query", "score"], how="semi")
    hits = hits.sort("document", descending=True)
    hits = hits.select("row", later=pl.int_range(pl.len()).over("query", "score"))
    wanted = pl.DataFrame({"row": row}).join(hits, on="row", how="left", maintain_order="left")
    later: Ints = wanted["later"].cast(pl.Int64).to_numpy()
    return later


def _bisect(values: Keys | Floats, wanted: Keys | Floats, start: Ints, end: Ints) -> Ints:
    """(n,): where each wanted value goes in its own sorted stretch of `values`, before its equals.

    start, end: (n,), the stretches.
    """
    low, size = start, end - start
    while size.any():
        half = size // 2
        middle = low + half
        value = values[np.minimum(middle, len(values) - 1)]  # of an empty stretch, any will do
        right = (size > 0) & (value < wanted)
        low = np.where(right, middle + 1, low)
        size = np.where(right, size - half - 1, half)
    return low
