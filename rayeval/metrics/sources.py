"""Whether the right documents were reached, whatever part of them (DESIGN §5, `source_recall`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from rayeval.columns import Floats, Ints
from rayeval.metrics.evidence import Evidence
from rayeval.metrics.found import recall
from rayeval.metrics.ranking import first_ranks


@dataclass(frozen=True)
class SourceSets:
    """The sets of sources that a batch's questions need, each set of a question once."""

    row: Ints
    """(n_sets,)"""
    set_: Ints
    """(n_members,): the set of each member."""
    source: Ints
    """(n_members,)"""


def source_sets(evidence: Evidence, source: Ints) -> SourceSets:
    """The sources of every group's gold; equal sets of one question count once.

    source: (n_evidence,), codes; -1 where no source is named, which then belongs to no set.
    """
    named = evidence.gold & (source >= 0)
    frame = pl.DataFrame(
        {"row": evidence.row[named], "group": evidence.group[named], "source": source[named]}
    )
    sets = frame.group_by("row", "group").agg(pl.col("source").unique().sort())
    sets = sets.select("row", "source").unique().sort("row", "source")
    members = sets.with_row_index("set").explode("source")
    return SourceSets(
        sets["row"].to_numpy(),
        members["set"].cast(pl.Int64).to_numpy(),
        members["source"].to_numpy(),
    )


def source_recall(rank: Ints, row: Ints, source: Ints, sets: SourceSets, limit: Ints) -> Floats:
    """Share of the sets of sources of which a member is among the hits.

    rank, row, source: (n_passages,), each passage's rank, question and source.
    limit: (n_questions,), the last rank that counts.
    Returns (n_questions,) in [0, 1]; NaN where no source is needed.
    """
    step = max(source.max(initial=0), sets.source.max(initial=0)) + 2
    wanted, member = np.unique(sets.row[sets.set_] * step + sets.source, return_inverse=True)
    key = row * step + source
    at = np.searchsorted(wanted, key)
    inside = np.flatnonzero(np.append(wanted, -1)[at] == key)
    first = first_ranks(rank, inside, at[inside], len(wanted))
    return recall(first_ranks(first, member, sets.set_, len(sets.row)), sets.row, limit)
