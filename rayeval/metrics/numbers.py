"""Every metric of one stage over one batch: names on one side, kernels on the other."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from rayeval.columns import Floats, Ints
from rayeval.metrics import chars, context, found, graded, sources
from rayeval.metrics.block import Block
from rayeval.metrics.names import Cutoff, Measure
from rayeval.metrics.ranking import Ranking, cut, first_ranks, share, tally
from rayeval.metrics.spans import Bools, Union


class Numbers:
    """What one stage's hits are worth, metric by metric."""

    def __init__(self, block: Block, hits: Ranking, *, gain: graded.Gain) -> None:
        self.block, self.hits, self.gain = block, hits, gain
        self.relevance = block.relevance
        self.every = block.relevance.evidence.groups
        self.every_first = first_ranks(hits.rank, *self.relevance.finds_group, len(self.every.row))
        gold = self.every.gold
        self.first, self.row = self.every_first[gold], self.every.row[gold]
        self.grade = self.every.grade[gold]
        self.n_groups = np.bincount(self.row, minlength=self.relevance.n_rows)
        self._within: dict[Cutoff, Within] = {}

    @cached_property
    def part(self) -> Ints:
        """(n_groups with gold,): rank of the first hit that covers part of the group's gold."""
        part = first_ranks(self.hits.rank, *self.block.parts, len(self.every.row))
        return part[self.every.gold]

    def value(self, measure: Measure) -> Floats:
        """(n_questions,); NaN where it is undefined."""
        name, cutoff = measure.metric.name, measure.cutoff
        if cutoff is None:
            return OF_CONTEXT[name](self)
        if cutoff not in self._within:
            self._within[cutoff] = Within(self, cutoff)
        within = self._within[cutoff]
        return np.where(within.cut.unknown, np.nan, AT_CUTOFF[name](self, within))


class Within:
    """What of one stage's hits a cutoff takes."""

    def __init__(self, numbers: Numbers, cutoff: Cutoff) -> None:
        self.numbers = numbers
        self.cut = cut(numbers.hits, numbers.relevance.passages, cutoff)
        self.limit = self.cut.limit

    @cached_property
    def union(self) -> Union:
        """What they cover together."""
        return chars.retrieved(self.numbers.relevance, self.numbers.hits.rank, self.limit)

    @cached_property
    def characters(self) -> chars.Characters:
        """Their characters against those of gold."""
        n = self.numbers
        return chars.characters(n.relevance, n.block.gold, self.union, n.hits.rank, self.limit)

    def count(self, flags: Bools) -> Ints:
        """(n_questions,): how many of them are flagged; flags: (n_passages,)."""
        row = self.numbers.relevance.passages.row
        inside = self.numbers.hits.rank <= self.limit[row]
        return tally(row, flags & inside, len(self.limit))


def _joint_recall(n: Numbers, at: Within) -> Floats:
    held = n.relevance.groups_covered(at.union)[n.every.gold]
    return share(tally(n.row, held, len(at.limit)), n.n_groups)


def _source_recall(n: Numbers, at: Within) -> Floats:
    passages = n.relevance.passages
    return sources.source_recall(n.hits.rank, passages.row, passages.source, n.block.sets, at.limit)


def _judged(n: Numbers, at: Within) -> Floats:
    labelled = at.count(n.block.labelled)
    return share(np.where(n.block.complete, at.cut.taken, labelled), at.cut.taken)


def _ndcg(n: Numbers, at: Within) -> Floats:
    every = n.every_first, n.every.row, n.every.grade
    return graded.ndcg(*every, at.limit, k=at.cut.positions, gain=n.gain)


def _map(n: Numbers, at: Within) -> Floats:
    return graded.average_precision(n.first, n.row, n.grade, at.limit, k=at.cut.positions)


AT_CUTOFF: dict[str, Callable[[Numbers, Within], Floats]] = {
    "hit": lambda n, at: found.hit(n.first, n.row, at.limit),
    "recall": lambda n, at: found.recall(n.first, n.row, at.limit),
    "all_groups": lambda n, at: found.all_groups(n.first, n.row, at.limit),
    "joint_recall": _joint_recall,
    "partial": lambda n, at: found.partial(n.first, n.part, n.row, at.limit),
    "source_recall": _source_recall,
    "precision": lambda n, at: found.precision(at.count(n.block.finding), at.cut.size, n.n_groups),
    "precision_returned": lambda n, at: found.precision(
        at.count(n.block.finding), at.cut.taken, n.n_groups
    ),
    "mrr": lambda n, at: found.mrr(n.first, n.row, at.limit),
    "map": _map,
    "ndcg": _ndcg,
    "char_recall": lambda n, at: chars.char_recall(at.characters),
    "char_precision": lambda n, at: chars.char_precision(at.characters),
    "char_iou": lambda n, at: chars.char_iou(at.characters),
    "judged": _judged,
}

OF_CONTEXT: dict[str, Callable[[Numbers], Floats]] = {
    "duplicate_ratio": lambda n: context.duplicate_ratio(n.relevance, n.hits),
    "context_tokens": lambda n: context.context_tokens(n.relevance.passages, n.hits),
    "tokens_per_gold_char": lambda n: share(
        context.context_tokens(n.relevance.passages, n.hits),
        context.gold_chars(n.relevance, n.block.gold, n.hits),
    ),
}
