"""Which documents a question needs, whatever part of them (DESIGN §5, `source_recall`)."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from rayeval.columns import Ints
from rayeval.metrics.relevance import Relevance


@dataclass(frozen=True)
class SourceSets:
    """The sets of sources that a batch's questions need, each set of a question once."""

    row: Ints
    """(n_sets,)"""
    passage: Ints
    """(n_pairs,), a passage that lies in a source …"""
    member_of: Ints
    """(n_pairs,), … of this set."""


def source_sets(relevance: Relevance) -> SourceSets:
    """The sources of every group's gold; equal sets of one question count once.

    Gold that names no source belongs to no set.
    """
    evidence, source = relevance.evidence, relevance.evidence_source
    named = evidence.gold & (source >= 0)
    gold = pl.DataFrame(
        {"row": evidence.row[named], "group": evidence.group[named], "source": source[named]}
    )
    sets = gold.group_by("row", "group").agg(pl.col("source").unique().sort())
    sets = sets.select("row", "source").unique().sort("row", "source").with_row_index("set")
    passages = pl.DataFrame({"row": relevance.passages.row, "source": relevance.passages.source})
    members = sets.explode("source")
    pairs = passages.with_row_index("passage").join(members, on=["row", "source"])
    columns = pairs.select(pl.col("passage", "set").cast(pl.Int64))
    return SourceSets(
        sets["row"].to_numpy(), columns["passage"].to_numpy(), columns["set"].to_numpy()
    )
