"""Every metric of one stage over one batch: names on one side, kernels on the other."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from rayeval.columns import Floats, Ints
from rayeval.metrics import chars, context, found, graded
from rayeval.metrics.block import Block
from rayeval.metrics.names import Cutoff, Measure
from rayeval.metrics.ranking import Ranking, cut, first_ranks, share, tally
from rayeval.metrics.spans import Bools, Union


class Values:
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

    @cached_property
    def source_first(self) -> Ints:
        """(n_sets,): rank of the first hit in each set of sources."""
        sets = self.block.sets
        return first_ranks(self.hits.rank, sets.passage, sets.member_of, len(sets.row))

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

    def __init__(self, values: Values, cutoff: Cutoff) -> None:
        self.values = values
        self.cut = cut(values.hits, values.relevance.passages, cutoff)
        self.limit = self.cut.limit

    @cached_property
    def union(self) -> Union:
        """What they cover together, with evidence that they are known to hold."""
        found = self.values.relevance
        return chars.retrieved(found, found.pieces, self.values.hits.rank, self.limit)

    @cached_property
    def characters(self) -> chars.Characters:
        """Their own characters against those of gold."""
        v, found = self.values, self.values.relevance
        text = self.union
        if found.own is not found.pieces:
            text = chars.retrieved(found, found.own, v.hits.rank, self.limit)
        return chars.characters(found, v.block.gold, text, v.hits.rank, self.limit)

    def count(self, flags: Bools) -> Ints:
        """(n_questions,): how many of them are flagged; flags: (n_passages,)."""
        row = self.values.relevance.passages.row
        inside = self.values.hits.rank <= self.limit[row]
        return tally(row, flags & inside, len(self.limit))


def _joint_recall(v: Values, at: Within) -> Floats:
    held = v.relevance.groups_covered(at.union)[v.every.gold]
    return share(tally(v.row, held, len(at.limit)), v.n_groups)


def _source_recall(v: Values, at: Within) -> Floats:
    """Undefined where what is not found may be in a hit that names no source."""
    value = found.recall(v.source_first, v.block.sets.row, at.limit)
    nameless = at.count(v.relevance.passages.source < 0)
    return np.where((nameless > 0) & (value < 1), np.nan, value)


def _judged(v: Values, at: Within) -> Floats:
    labelled = at.count(v.block.labelled)
    return share(np.where(v.block.complete, at.cut.taken, labelled), at.cut.taken)


def _ndcg(v: Values, at: Within) -> Floats:
    every = v.every_first, v.every.row, v.every.grade
    return graded.ndcg(*every, at.limit, k=at.cut.positions, gain=v.gain)


def _map(v: Values, at: Within) -> Floats:
    return graded.average_precision(v.first, v.row, v.grade, at.limit, k=at.cut.positions)


AT_CUTOFF: dict[str, Callable[[Values, Within], Floats]] = {
    "hit": lambda v, at: found.hit(v.first, v.row, at.limit),
    "recall": lambda v, at: found.recall(v.first, v.row, at.limit),
    "all_groups": lambda v, at: found.all_groups(v.first, v.row, at.limit),
    "joint_recall": _joint_recall,
    "partial": lambda v, at: found.partial(v.first, v.part, v.row, at.limit),
    "source_recall": _source_recall,
    "precision": lambda v, at: found.precision(at.count(v.block.finding), at.cut.size, v.n_groups),
    "precision_returned": lambda v, at: found.precision(
        at.count(v.block.finding), at.cut.taken, v.n_groups
    ),
    "mrr": lambda v, at: found.mrr(v.first, v.row, at.limit),
    "map": _map,
    "ndcg": _ndcg,
    "char_recall": lambda v, at: chars.char_recall(at.characters),
    "char_precision": lambda v, at: chars.char_precision(at.characters),
    "char_iou": lambda v, at: chars.char_iou(at.characters),
    "judged": _judged,
}

OF_CONTEXT: dict[str, Callable[[Values], Floats]] = {
    "duplicate_ratio": lambda v: context.duplicate_ratio(v.relevance, v.hits),
    "context_tokens": lambda v: context.context_tokens(v.relevance.passages, v.hits),
    "tokens_per_gold_char": lambda v: share(
        context.context_tokens(v.relevance.passages, v.hits),
        context.gold_chars(v.relevance, v.block.gold, v.hits),
    ),
}
