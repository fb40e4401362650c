"""The steps on the golden set: read in blocks, locate the evidence, settle what is gold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from rayeval import registry
from rayeval.execution.plan.builder import Builder, columns, per_question, with_error
from rayeval.execution.plan.corpus import DocumentSteps
from rayeval.execution.step import Step
from rayeval.golden.config import Golden
from rayeval.golden.evaluate import EVALUATED
from rayeval.golden.locate import SPOT, Locate
from rayeval.marked import GOLDEN
from rayeval.tables import QUESTIONS, TEXT


@dataclass(frozen=True)
class GoldenFile:
    """A golden set's place and content hash."""

    config: Golden
    sha256: str


def question_steps(
    builder: Builder,
    golden: GoldenFile,
    corpus: DocumentSteps,
    *,
    limit: int | None = None,
    suffix: str = "",
) -> Step:
    """Golden set → blocks of questions as evaluated (EVALUATED)."""
    metrics = builder.config.metrics
    questions = asked(builder, golden, corpus.catalogue, limit=limit, suffix=suffix)
    located = builder.add(
        Step(
            name=f"located{suffix}",
            kind="scatter",
            identity={"step": "located"},
            make=Locate,
            schema=per_question(spots=pa.list_(SPOT)),
            batch=columns(questions, *QUESTIONS.names),
            sharded={"documents": corpus.documents.key, "elements": corpus.elements.key},
            whole={"catalogue": corpus.catalogue.key},
        )
    )
    wanted = metrics.model_dump(mode="json", include={"relevant", "full", "short_gold"})
    return builder.add(
        Step(
            name=f"resolved{suffix}",
            kind="map",
            identity={"step": "resolved", **wanted},
            make=partial(registry.evaluator, metrics),
            schema=with_error(EVALUATED),
            batch=(
                *columns(questions, *QUESTIONS.names),
                *columns(located, "spots", error="located.error"),
            ),
            whole={"catalogue": corpus.catalogue.key},
            names={GOLDEN: golden.config.path},
        )
    )


def asked(
    builder: Builder,
    golden: GoldenFile,
    catalogue: Step,
    *,
    limit: int | None = None,
    suffix: str = "",
) -> Step:
    """Golden set → blocks of questions as they are stated, revisions chosen."""
    metrics, splits = builder.config.metrics, golden.config.splits
    return builder.add(
        Step(
            name=f"questions{suffix}",
            kind="produce",
            identity={
                "v": 2,
                "sha256": golden.sha256,
                "splits": splits,
                "limit": limit,
                "format": golden.config.format,
                "relevant": metrics.relevant,
            },
            make=partial(registry.questions, golden.config, metrics.relevant, limit),
            schema=QUESTIONS,
            whole={"catalogue": catalogue.key},
            names={GOLDEN: golden.config.path},
        )
    )


def drawn(builder: Builder, name: str, size: int, seed: int, resolved: Step) -> Step:
    """Which questions are among the `size` that the seed draws, by id: the column `sampled`."""
    return builder.add(
        Step(
            name=name,
            kind="produce",
            identity={"size": size, "seed": seed},
            make=partial(registry.sample, size, seed),
            schema=pa.schema([("question_id", TEXT), ("sampled", pa.bool_())]),
            sharded={"resolved": resolved.key},
        )
    )
