"""The steps that judge: gold in chunks, what the filter took, ranks, metrics, first failures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from rayeval import registry
from rayeval.execution.plan.builder import Builder, columns
from rayeval.execution.plan.corpus import CorpusSteps
from rayeval.execution.step import Step
from rayeval.tables import PLACE, TEXT, TEXTS

GOLD_CHUNKS = pa.list_(PLACE)
NEIGHBOURS = pa.list_(pa.struct([("chunk_id", TEXT), ("text", TEXT), ("joined", TEXTS)]))


def per_question(**fields: pa.DataType) -> pa.Schema:
    """A schema of question_id, `fields`, error."""
    return pa.schema([("question_id", TEXT), *fields.items(), ("error", TEXT)])


@dataclass(frozen=True)
class GoldSteps:
    """Gold as the corpus's chunks hold it, and what the filter takes of it."""

    chunks: Step
    filter: Step


def gold_steps(builder: Builder, corpus: CorpusSteps, resolved: Step) -> GoldSteps:
    """`gold_chunks` and `filter`."""
    chunks = builder.add(
        Step(
            name="gold_chunks",
            kind="scatter",
            identity=registry.version("gold_chunks"),
            make=registry.gold_chunks,
            schema=per_question(gold_chunks=GOLD_CHUNKS),
            batch=columns(resolved, "question_id", "evidence", error="resolved.error"),
            sharded={"chunks": corpus.chunks.key},
        )
    )
    config = builder.config.retrieve.filter
    removed = builder.add(
        Step(
            name="filter",
            kind="scatter",
            identity=config.identity(),
            make=partial(registry.filter_trace, config),
            schema=per_question(
                removed_access=pa.int64(), removed_stale=pa.int64(), removed_gold=TEXTS
            ),
            batch=(
                *columns(resolved, "question_id", "principals"),
                *columns(chunks, "gold_chunks", error="gold_chunks.error"),
            ),
            sharded={"chunks": corpus.chunks.key},
            whole={"catalogue": corpus.catalogue.key},
        )
    )
    return GoldSteps(chunks, removed)
