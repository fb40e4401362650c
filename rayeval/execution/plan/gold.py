"""The steps on gold: in which chunks it lies, and what the filter takes of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from rayeval.chunk import lookup
from rayeval.execution.plan.builder import Builder, columns, per_question
from rayeval.execution.plan.corpus import CorpusSteps
from rayeval.execution.step import Step
from rayeval.retrieve.filter import FilterTrace
from rayeval.tables import PLACE, TEXTS


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
            identity={"step": "gold_chunks"},
            make=lookup.GoldChunks,
            schema=per_question(gold_chunks=pa.list_(PLACE)),
            batch=columns(resolved, "question_id", "evidence", error="resolved.error"),
            sharded={"chunks": corpus.chunks.key},
        )
    )
    config = builder.run.retrieve.filter
    removed = builder.add(
        Step(
            name="filter",
            kind="scatter",
            identity=config.identity(),
            make=partial(FilterTrace, config),
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
