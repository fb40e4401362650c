"""Where a run ranks the documents that are judged, without sorting the run.

A ranking is ordered by (-score, document descending in byte order), as trec_eval orders it. The
rank of a judged document is one more than the number of its query's hits with a higher score, and
of those with the same score and a later id. So within every query only scores are sorted, and
hashes of ids to find the judged ones; whatever a hash finds is compared as text before it counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from rayeval.columns import Floats, Ints
from rayeval.metrics.ranking import NEVER

Keys = npt.NDArray[np.uint64]
_PAIR = ["query", "document"]


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
    first = _starts(run["query"])
    if run["query"].gather(first).is_duplicated().any():
        run = run.sort("query", maintain_order=True)
        first = _starts(run["query"])
    bounds = np.append(first.to_numpy().astype(np.int64), run.height)
    return Grouped(run, run["query"].gather(first), bounds[:-1], bounds[1:])


def _starts(query: pl.Series) -> pl.Series:
    return query.ne_missing(query.shift(1)).arg_true()


class Ids:
    """The ids of hits in stretches (one per query), to be found within a stretch.

    Every hit has a key: the upper bits are of its id's hash, the lower ones its place in the
    stretch. Sorted keys are searched instead of text.
    """

    def __init__(self, documents: pl.Series, start: Ints, end: Ints) -> None:
        self.documents, self.start, self.end = documents, start, end
        longest = int((end - start).max(initial=1))
        self._mask = np.uint64((1 << longest.bit_length()) - 1)
        self._keys = self._hashes(documents)
        place = np.arange(longest, dtype=np.uint64)
        alike = [np.empty(0, np.int64)]
        for first, last in zip(start.tolist(), end.tolist(), strict=True):
            keys = self._keys[first:last]
            keys |= place[: last - first]
            keys.sort()
            same = (keys[1:] ^ keys[:-1]) <= self._mask
            if same.any():
                at = np.flatnonzero(same)
                at = np.union1d(at, at + 1)
                alike.append(first + (keys[at] & self._mask).astype(np.int64))
        self.alike = np.concatenate(alike)
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

    def _hashes(self, documents: pl.Series) -> Keys:
        hashes: Keys = documents.hash().to_numpy() & ~self._mask
        return hashes


def judged(run: Grouped, judgements: pl.DataFrame) -> Judged:
    """What a run makes of `judgements` (`query, document, grade`), by query and in their order."""
    judgements = judgements.sort("query", maintain_order=True)
    start = _starts(judgements["query"])
    queries = judgements["query"].gather(start)
    first = np.append(start.to_numpy().astype(np.int64), judgements.height)
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
    scores = run.hits["score"].to_numpy() + 0.0  # one zero, not two
    score, start, end = scores[row], run.start[group], run.end[group]
    for first, last in zip(run.start.tolist(), run.end.tolist(), strict=True):
        scores[first:last].sort()
    not_higher = _bisect(scores, score, start, end, after=True)
    lower = _bisect(scores, score, start, end)
    rank = end - not_higher + 1
    tied = np.flatnonzero(not_higher - lower > 1)
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


def _bisect(
    values: Keys | Floats, wanted: Keys | Floats, start: Ints, end: Ints, *, after: bool = False
) -> Ints:
    """(n,): where each wanted value goes in its own sorted stretch of `values`.

    start, end: (n,), the stretches. after: behind values that are equal, rather than before them.
    """
    low, size = start, end - start
    while size.any():
        half = size // 2
        middle = low + half
        value = values[np.minimum(middle, len(values) - 1)]  # of an empty stretch, any will do
        right = (size > 0) & ((value <= wanted) if after else (value < wanted))
        low = np.where(right, middle + 1, low)
        size = np.where(right, size - half - 1, half)
    return low
