"""What a trace and its chunks say of places: held against the documents, and looked up in them."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import combined
from rayeval.golden.revisions import choose_revisions
from rayeval.golden.standing import Standing
from rayeval.interop.own import claims as own_claims
from rayeval.interop.own import texts as own_texts
from rayeval.interop.own.claims import CLAIMS
from rayeval.registry.produced import Produced
from rayeval.stage import Shard
from rayeval.tables import TEXT

__all__ = ["MISPLACED", "Standing", "claims", "misplaced", "misplaced_names", "texts"]

MISPLACED = CLAIMS.remove(CLAIMS.get_field_index("lacks"))
MISPLACED = MISPLACED.append(pa.field("fault", TEXT)).append(pa.field("unit", TEXT))
"""Stated places that are wrong: `fault` is golden.standing's, or `source` or `revision`, which the
corpus lacks."""


def texts(paths: Sequence[str], chunks: Sequence[str], shard: Shard) -> Produced:
    """The texts in a trace and its chunks as evidence of the current revisions."""
    for table in own_texts.texts(paths, chunks, misplaced_names(shard)):
        yield choose_revisions(table, shard.table("catalogue")), ()


def claims(paths: Sequence[str], chunks: Sequence[str], shard: Shard) -> Produced:
    """The places that a trace and its chunks state."""
    catalogue = shard.table("catalogue")
    for table in own_claims.claims(paths, chunks, catalogue, shard.number, shard.count):
        yield table, ()


def misplaced(shard: Shard) -> Produced:
    """Of these places those that the documents contradict, or the corpus lacks."""
    pairs = zip(shard.tables("claims"), shard.tables("standing"), strict=True)
    for claimed, answer in pairs:
        fault = pc.coalesce(claimed["lacks"], answer["fault"])
        every = {**dict(zip(claimed.column_names, claimed.columns, strict=True)), "fault": fault}
        every["unit"] = answer["unit"]
        table = pa.table([every[name] for name in MISPLACED.names], MISPLACED.names)
        yield table.filter(fault.is_valid()), ()


def misplaced_names(shard: Shard) -> pa.Array:
    """Names of what must not be taken to stand where it says."""
    table = shard.table("misplaced")
    wrong = pc.is_in(table["fault"], value_set=pa.array(["text", "place"], TEXT))
    return combined(table.filter(wrong)["question_id"])
