"""A batch of questions with everything that the walk asks of it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa

from rayeval.columns import Ints, combined, flatten
from rayeval.metrics.pipeline import Codes, Pipeline, outcomes
from rayeval.metrics.ranking import NEVER, ranking
from rayeval.metrics.relevance import Relevance, relevance
from rayeval.metrics.spans import Bools, Union
from rayeval.tables import PASSAGES, TEXTS


class Scene:
    """Groups of evidence, and by which chunks they are held."""

    def __init__(self, batch: pa.Table, pipeline: Pipeline, *, full: float) -> None:
        self.pipeline, self.n_rows = pipeline, batch.num_rows
        self.batch = _with(_with(batch, "gold_chunks", PASSAGES), "removed_gold", TEXTS)
        self.found = relevance(self.batch, "passages", full=full)
        self.corpus = relevance(self.batch, "gold_chunks", full=full)
        """Of every chunk that overlaps gold, found or not."""
        self.evidence = self.found.evidence
        self.groups = self.evidence.groups
        self.outcome: dict[str, Codes] = outcomes(batch, pipeline)
        self._ranks: dict[str, Ints] = {}

    def observed(self, column: str) -> Bools:
        """(n_rows,): whether the batch has something in `column`."""
        if column not in self.batch.column_names:
            return np.zeros(self.n_rows, bool)
        return np.asarray(combined(self.batch[column]).is_valid())

    @cached_property
    def whole(self) -> Bools:
        """(n_groups,): one chunk of the corpus finds it."""
        return _found(self.corpus, np.ones(len(self.corpus.passages.row), bool))

    @cached_property
    def split(self) -> Bools:
        """(n_groups,): it has gold that no chunk of the corpus finds, but all of them together."""
        together = self.corpus.groups_covered(Union.of(self.corpus.pieces))
        return self.groups.gold & together & ~self.whole

    @cached_property
    def left(self) -> Bools:
        """(n_gold_chunks,): the filter leaves it."""
        row, ids = flatten(self.batch["removed_gold"])
        chunk = self.corpus.passages.index(row, ids)
        left = np.ones(len(self.corpus.passages.row), bool)
        left[chunk[chunk >= 0]] = False
        return left

    def held_after_filter(self) -> Bools:
        """(n_groups,): whole, or carried as split, in the chunks that the filter leaves."""
        return self._held(self.corpus, self.left)

    def held(self, *stages: str) -> Bools:
        """(n_groups,): whole, or carried as split, in what the stages found together."""
        return self._held(self.found, self.chosen(*stages))

    def chosen(self, *stages: str) -> Bools:
        """(n_passages,): one of the stages found it."""
        chosen = np.zeros(len(self.found.passages.row), bool)
        for stage in stages:
            chosen |= self.rank(stage) < NEVER
        return chosen

    def rank(self, stage: str) -> Ints:
        """(n_passages,): its rank in what the stage found; NEVER where that is not."""
        if stage not in self._ranks:
            self._ranks[stage] = ranking(self.batch, stage, self.found.passages).rank
        return self._ranks[stage]

    @cached_property
    def holders(self) -> tuple[Ints, Ints]:
        """(gold chunk, group): the chunks worth searching for, of those that the filter leaves.

        They find their group; of a split group they are those that overlap it most.
        """
        chunk, group = self.corpus.finds_group
        pairs, of = self.corpus.pairs, self.evidence.group[self.corpus.pairs.right]
        part = self.evidence.counts[pairs.right] & self.split[of] & self.left[pairs.left]
        part_chunk, part_group, chars = pairs.left[part], of[part], pairs.chars[part]
        most = np.zeros(len(self.groups.row), np.int64)
        np.maximum.at(most, part_group, chars)
        best, left = chars == most[part_group], self.left[chunk]
        return (
            np.concatenate([chunk[left], part_chunk[best]]),
            np.concatenate([group[left], part_group[best]]),
        )

    def _held(self, relevance: Relevance, chosen: Bools) -> Bools:
        pieces = relevance.pieces
        together = Union.of(pieces.take(chosen[pieces.owner]))
        return _found(relevance, chosen) | (self.split & relevance.groups_covered(together))


def _found(relevance: Relevance, chosen: Bools) -> Bools:
    """(n_groups,): one of the chosen passages finds it."""
    passage, group = relevance.finds_group
    n_groups = len(relevance.evidence.groups.row)
    return np.bincount(group[chosen[passage]], minlength=n_groups) > 0


def _with(batch: pa.Table, name: str, kind: pa.DataType) -> pa.Table:
    """`batch` with the column `name`, null where it had none."""
    if name in batch.column_names:
        return batch
    return batch.append_column(name, pa.nulls(batch.num_rows, kind))
