"""The steps on the golden set: read in blocks, locate the evidence, settle what is gold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from rayeval import registry
from rayeval.execution.plan.builder import Builder, columns, with_error
from rayeval.execution.plan.corpus import CorpusSteps
from rayeval.execution.step import Step
from rayeval.golden.config import Golden
from rayeval.tables import QUESTIONS, RESOLVED, TEXT

PROBLEMS = pa.list_(pa.struct([("kind", TEXT), ("message", TEXT), ("warning", pa.bool_())]))


@dataclass(frozen=True)
class GoldenFile:
    """A golden set's place and content hash."""

    config: Golden
    sha256: str


def question_steps(
    builder: Builder,
    golden: GoldenFile,
    corpus: CorpusSteps,
    *,
    limit: int | None = None,
    suffix: str = "",
) -> Step:
    """Golden set → blocks of questions as evaluated (RESOLVED and `problems`)."""
    metrics = builder.config.metrics
    splits = golden.config.splits
    questions = builder.add(
        Step(
            name=f"questions{suffix}",
            kind="produce",
            identity={
                "sha256": golden.sha256,
                "splits": splits,
                "limit": limit,
                "format": golden.config.format,
                "relevant": metrics.relevant,
            },
            make=partial(registry.questions, golden.config, metrics.relevant, limit),
            schema=QUESTIONS,
            whole={"catalogue": corpus.catalogue.key},
        )
    )
    located = builder.add(
        Step(
            name=f"located{suffix}",
            kind="scatter",
            identity={"full": metrics.full, **registry.version("located")},
            make=partial(registry.locator, metrics),
            schema=with_error(RESOLVED.append(pa.field("problems", PROBLEMS))),
            batch=columns(questions, *QUESTIONS.names),
            sharded={"documents": corpus.documents.key, "elements": corpus.elements.key},
            whole={"catalogue": corpus.catalogue.key},
        )
    )
    return builder.add(
        Step(
            name=f"resolved{suffix}",
            kind="map",
            identity={
                "relevant": metrics.relevant,
                "short_gold": _dump(metrics.short_gold),
                **registry.version("resolved"),
            },
            make=partial(registry.evaluator, metrics),
            schema=located.schema,
            batch=columns(located, *located.schema.names[:-1], error="located.error"),
            whole={"catalogue": corpus.catalogue.key},
        )
    )


def _dump(model: object) -> object:
    return model.model_dump(mode="json") if hasattr(model, "model_dump") else model
