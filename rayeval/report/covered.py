"""How much of a question's gold each of its hits holds, as metrics and first failures count it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from rayeval.metrics.relevance import relevance
from rayeval.report.gold import blocks, full
from rayeval.report.holding import holds
from rayeval.report.tables import Tables


@dataclass(frozen=True)
class Covered:
    """What one passage holds of the gold."""

    shares: dict[str, float] = field(default_factory=dict)
    """Evidence → the share of its characters."""
    finds: list[str] = field(default_factory=list)
    """The evidence that it alone finds."""


def covered(run: Tables, question_id: str, stages: Sequence[str]) -> dict[str, Covered]:
    """chunk_id → what it holds, of all hits of a question that hold some gold."""
    result: dict[str, Covered] = {}
    for table, hits in blocks(run, [question_id], stages):
        batch = table.append_column("passages", hits.passages(table.num_rows))
        batch = batch.append_column("holds", holds(batch, run))
        found = relevance(batch, "passages", full=full(run))
        chunks, evidence = found.passages.items.field("chunk_id"), found.evidence
        names = evidence.items.field("evidence_id")
        shares = found.pairs.chars / found.length[found.pairs.right]
        for at, (passage, item) in enumerate(zip(found.pairs.left, found.pairs.right, strict=True)):
            if evidence.gold[item]:
                own = result.setdefault(_name(chunks, passage), Covered())
                own.shares[_name(names, item)] = float(shares[at])
        for passage, item in zip(*found.finds, strict=True):
            if evidence.gold[item]:
                result[_name(chunks, passage)].finds.append(_name(names, item))
    return result


def _name(names: pa.Array, at: int) -> str:
    return str(names[int(at)].as_py())
