"""What all stages of a batch share before anything is ranked."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Ints, combined
from rayeval.metrics import chars
from rayeval.metrics.evidence import bools
from rayeval.metrics.relevance import relevance
from rayeval.metrics.sources import SourceSets, source_sets
from rayeval.metrics.spans import Bools, least


class Block:
    """A batch's relevance, and what follows from it for any ranking."""

    def __init__(self, batch: pa.Table, *, full: float, partial: float) -> None:
        self.partial = partial
        self.relevance = relevance(batch, "passages", full=full)
        labels = combined(batch["labels"])
        self.complete = bools(pc.equal(labels, "complete"), False)
        """(n_rows,): text outside every evidence is known to be irrelevant."""

    @cached_property
    def gold(self) -> chars.Gold:
        """The union of every question's gold."""
        return chars.gold_of(self.relevance)

    @cached_property
    def sets(self) -> SourceSets:
        """The sets of sources that every question needs."""
        return source_sets(self.relevance)

    @cached_property
    def parts(self) -> tuple[Ints, Ints]:
        """(passage, group) where the passage covers enough of the group's gold to be partial."""
        pairs, evidence = self.relevance.pairs, self.relevance.evidence
        enough = pairs.chars >= least(self.relevance.length, self.partial)[pairs.right]
        enough &= evidence.gold[pairs.right]
        return pairs.left[enough], evidence.group[pairs.right[enough]]

    @cached_property
    def labelled(self) -> Bools:
        """(n_passages,): it shares text with evidence of any grade."""
        return self._flags(self.relevance.pairs.left)

    @cached_property
    def finding(self) -> Bools:
        """(n_passages,): it finds a group that has gold."""
        passage, group = self.relevance.finds_group
        return self._flags(passage[self.relevance.evidence.groups.gold[group]])

    def _flags(self, passage: Ints) -> Bools:
        flags = np.zeros(len(self.relevance.passages.row), bool)
        flags[passage] = True
        return flags
