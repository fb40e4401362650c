"""What answers were handed, and what they cite of it, against the gold evidence."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np
import pyarrow as pa

from rayeval.columns import Floats, Ints, flatten
from rayeval.metrics.answers.given import Given
from rayeval.metrics.block import Block
from rayeval.metrics.evidence import bools, ints
from rayeval.metrics.ranking import NEVER, Ranking, share, tally
from rayeval.metrics.spans import Bools, Union

LEVELS = ("none", "some", "all")
"""How much of the gold evidence the context holds; an unanswerable question has none."""
NONE, SOME, ALL = range(3)
UNKNOWN = -1


class Handed:
    """The contexts of one variant's answers. All results are by answer, (n_answers,)."""

    def __init__(self, given: Given, block: Block, answerable: Bools, found: list[Ranking]) -> None:
        """answerable: (n_rows,). found: what stands for the context of answers that don't tell."""
        self.given, self.block, self.found = given, block, found
        self.answerable = answerable
        self.groups = block.relevance.evidence.groups
        self.needed = np.bincount(self.groups.row[self.groups.gold], minlength=given.n_rows)

    @cached_property
    def size(self) -> Ints:
        """Chunks handed over; -1 where nobody knows."""
        if not self.found:
            return self.given.handed
        returned = np.sum([ranking.returned for ranking in self.found], axis=0)
        told = self.given.handed
        return np.where(told < 0, returned[self.given.row], told)

    @cached_property
    def evidence(self) -> Ints:
        """Codes of LEVELS; -1 of an answerable question whose gold, or context, nobody knows."""
        row = self.given.row
        found, needed = np.zeros(len(row), np.int64), self.needed[row]
        for answers, held in self._held():
            count = tally(self.groups.row, held & self.groups.gold, self.given.n_rows)
            found[answers] = count[row[answers]]
        level = np.where(found == 0, NONE, np.where(found < needed, SOME, ALL))
        unknown = (needed == 0) | (self.size < 0)
        level = np.where(unknown, UNKNOWN, level)
        return np.where(self.answerable[row], level, NONE)

    @cached_property
    def told(self) -> Bools:
        """It says what it cites, if nothing; a foreign trace need not."""
        return bools(self.given.items.field("citations").is_valid(), False)

    def citation_validity(self) -> Floats:
        """Marks that name something in the context / marks."""
        answer, marks = flatten(self.given.items.field("citations"))
        n = len(self.given.row)
        valid = bools(marks.field("chunk_id").is_valid(), False)
        return share(tally(answer, valid, n), np.bincount(answer, minlength=n))

    def citation_recall(self) -> Floats:
        """Groups that a cited chunk finds / groups; no citation finds none."""
        answer, marks = flatten(self.given.items.field("citations"))
        pairs = self._groups_of(answer, marks.field("chunk_id"))
        cited = np.unique(np.stack(pairs), axis=1)
        gold = self.groups.gold[cited[1]]
        count = np.bincount(cited[0][gold], minlength=len(self.told))
        return np.where(self.told, share(count, self.needed[self.given.row]), np.nan)

    def _held(self) -> Iterator[tuple[Ints, Bools]]:
        """(answers of one repeat, (n_groups,): the context of its question's answer holds it).

        One chunk finds it, or all of them together cover it.
        """
        answer, ids = self.given.context
        told = self.given.handed >= 0
        for repeat in np.unique(self.given.repeat):
            mine = self.given.repeat == repeat
            inside = mine[answer]
            chosen = self._chosen(answer[inside], ids.filter(pa.array(inside)))
            rows = np.zeros(self.given.n_rows, bool)
            rows[self.given.row[mine & ~told]] = True
            for ranking in self.found:
                chosen |= (ranking.rank < NEVER) & rows[self.block.relevance.passages.row]
            held = self._covered(chosen)
            held[self._groups_of(answer[inside], ids.filter(pa.array(inside)))[1]] = True
            yield np.flatnonzero(mine), held

    def _chosen(self, answer: Ints, ids: pa.Array) -> Bools:
        """(n_passages,): it is among the chunks."""
        passages = self.block.relevance.passages
        at = passages.index(self.given.row[answer], ids)
        chosen = np.zeros(len(passages.row), bool)
        chosen[at[at >= 0]] = True
        return chosen

    def _covered(self, chosen: Bools) -> Bools:
        """(n_groups,): the chosen passages find it, alone or together."""
        relevance = self.block.relevance
        passage, group = relevance.finds_group
        together = Union.of(relevance.pieces.take(chosen[relevance.pieces.owner]))
        held = relevance.groups_covered(together)
        held[group[chosen[passage]]] = True
        return held

    def _groups_of(self, answer: Ints, ids: pa.Array) -> tuple[Ints, Ints]:
        """(answer, group) of every chunk that finds one; gold handed over is named by evidence."""
        if self.given.variant == "gold_context":
            evidence = self.block.relevance.evidence
            at = _index(self.given.row[answer], ids, evidence.row,
                        evidence.items.field("evidence_id"))  # fmt: skip
            known = (at >= 0) & evidence.gold[at]
            return answer[known], evidence.group[at[known]]
        at = self.block.relevance.passages.index(self.given.row[answer], ids)
        passage, group = self.block.relevance.finds_group
        order = np.argsort(passage, kind="stable")
        low, high = (np.searchsorted(passage[order], at, side=s) for s in ("left", "right"))
        which = np.repeat(np.arange(len(at)), high - low)
        place = np.arange(len(which)) - np.repeat(np.cumsum(high - low) - high, high - low)
        return answer[which], group[order[place]]


def _index(row: Ints, ids: pa.Array, known_row: Ints, known: pa.Array) -> Ints:
    """Where (row, id) stands among the known ones; -1 for nowhere."""
    names = pa.concat_arrays([ids, known]).dictionary_encode()
    code, width = ints(names.indices, -1), len(names.dictionary) + 1
    wanted = np.where(code[: len(ids)] < 0, -1, row * width + code[: len(ids)])
    keys = known_row * width + code[len(ids) :]
    return ints(pa.compute.index_in(pa.array(wanted), value_set=pa.array(keys)), -1)
