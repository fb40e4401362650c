"""The steps of a score: questions, where their gold lies, and what the trace has of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from rayeval import registry
from rayeval.corpus.units import Unit
from rayeval.execution.plan.builder import Builder, columns, per_question, with_error
from rayeval.execution.plan.corpus import DocumentSteps, document_steps
from rayeval.execution.plan.plan import Steps
from rayeval.execution.plan.questions import GoldenFile, asked, question_steps
from rayeval.execution.score.config import ScoreConfig
from rayeval.execution.step import Step, digest
from rayeval.golden.evaluate import EVALUATED
from rayeval.golden.locate import SPOT, Locate
from rayeval.metrics.failure.first_failure import FAILURES
from rayeval.metrics.totals import AGGREGATE, SLICES
from rayeval.registry.scoring import READ, Scoring
from rayeval.tables import CATALOGUE, QUESTIONS, TEXT


@dataclass(frozen=True)
class ScoreInputs:
    """What is read, by content."""

    golden_sha256: str
    trace_sha256: str
    chunks_sha256: str
    units: tuple[Unit, ...] = ()
    fingerprints: tuple[str, ...] = ()

    @property
    def pins(self) -> dict[str, str]:
        """What a resumed run must find again."""
        corpus = digest(list(self.fingerprints))
        return {
            "golden": self.golden_sha256,
            "trace": self.trace_sha256,
            "chunks": self.chunks_sha256,
            "corpus": corpus,
        }


@dataclass(frozen=True)
class ScorePlan(Steps):
    """The steps of a score, and the outputs that matter."""

    catalogue: Step
    scored: Step
    anchored: Step | None
    """Where the texts of the trace stand in the documents."""
    tables: tuple[tuple[str, Step], ...]
    """Outputs that are tables of the run as they are."""


def make_plan(config: ScoreConfig, inputs: ScoreInputs, scoring: Scoring) -> ScorePlan:
    """The steps over what `inputs` found. scoring: how the trace is read."""
    builder = Builder(config)
    golden = GoldenFile(config.golden, inputs.golden_sha256)
    if config.corpus is None:
        anchored, catalogue = None, builder.add(_no_corpus())
        resolved = _stated(builder, golden, catalogue)
    else:
        corpus: DocumentSteps = document_steps(
            builder, config.corpus, config.parse, inputs.units, inputs.fingerprints
        )
        catalogue = corpus.catalogue
        resolved = question_steps(builder, golden, corpus)
        anchored = _anchored(builder, inputs, scoring, corpus)
    scored = builder.add(_scored(config, inputs, scoring, resolved, catalogue, anchored))
    tables = _tables(builder, scoring, scored, resolved)
    return ScorePlan(tuple(builder.steps.values()), resolved, catalogue, scored, anchored, tables)


def _no_corpus() -> Step:
    return Step(
        name="catalogue",
        kind="produce",
        identity={"step": "no corpus"},
        make=partial(registry.nothing, CATALOGUE),
        schema=CATALOGUE,
    )


def _stated(builder: Builder, golden: GoldenFile, catalogue: Step) -> Step:
    """Evidence as it is stated."""
    questions = asked(builder, golden, catalogue)
    metrics = builder.config.metrics
    return builder.add(
        Step(
            name="resolved",
            kind="map",
            identity={"step": "stated", "relevant": metrics.relevant, "full": metrics.full},
            make=partial(registry.stated, metrics),
            schema=with_error(EVALUATED),
            batch=columns(questions, *QUESTIONS.names),
        )
    )


def _anchored(
    builder: Builder, inputs: ScoreInputs, scoring: Scoring, corpus: DocumentSteps
) -> Step:
    """Every text of the trace, located as a quote is (DESIGN §4)."""
    texts = builder.add(
        Step(
            name="texts",
            kind="produce",
            identity={"step": "texts", "trace": inputs.trace_sha256},
            make=partial(registry.texts, scoring.paths),
            schema=QUESTIONS,
            whole={"catalogue": corpus.catalogue.key},
        )
    )
    return builder.add(
        Step(
            name="anchored",
            kind="scatter",
            identity={"step": "located"},
            make=Locate,
            schema=per_question(spots=pa.list_(SPOT)),
            batch=columns(texts, *QUESTIONS.names),
            sharded={"documents": corpus.documents.key, "elements": corpus.elements.key},
            whole={"catalogue": corpus.catalogue.key},
        )
    )


def _scored(
    config: ScoreConfig,
    inputs: ScoreInputs,
    scoring: Scoring,
    resolved: Step,
    catalogue: Step,
    anchored: Step | None,
) -> Step:
    texts = {} if anchored is None else {"texts": anchored.key}
    return Step(
        name="scored",
        kind="map",
        identity={
            "step": "scored",
            "v": 2,
            "trace": inputs.trace_sha256,
            "chunks": inputs.chunks_sha256,
            "metrics": scoring.metrics.identity(),
            "pipeline": repr(scoring.pipeline),
            "any_order": scoring.any_order,
            "depth": scoring.depth,
            "tokenizer": config.tokenizer.identity(),
        },
        make=partial(registry.scorer, scoring, config.tokenizer, config.corpus is not None),
        schema=scoring.schema,
        batch=columns(resolved, *READ),
        whole={"catalogue": catalogue.key, **texts},
        tolerant=True,
        threads=not scoring.counts_tokens,  # not every tokenizer bears several at once
    )


def _tables(
    builder: Builder, scoring: Scoring, scored: Step, resolved: Step
) -> tuple[tuple[str, Step], ...]:
    """File name → the step whose output is that table."""
    numbers = [("stage", TEXT), ("status", TEXT)]
    numbers += [(name, pa.float64()) for name in scoring.numbers.names]
    per_query = _unpacked(
        builder, scored, "per_query", pa.schema([("question_id", TEXT), *numbers])
    )
    failures = _unpacked(builder, scored, "failures", FAILURES)
    measured = scoring.numbers.measured
    totals = [
        builder.add(
            Step(
                name=name,
                kind="produce",
                identity={"step": name, "measured": measured},
                make=partial(registry.totals, measured, name),
                schema=schema,
                sharded={"per_query": per_query.key, "questions": resolved.key},
            )
        )
        for name, schema in (("aggregate", AGGREGATE), ("slices", SLICES))
    ]
    return tuple((f"{step.name}.parquet", step) for step in (per_query, failures, *totals))


def _unpacked(builder: Builder, scored: Step, name: str, schema: pa.Schema) -> Step:
    """The rows that `scored` has of one table."""
    return builder.add(
        Step(
            name=name,
            kind="map",
            identity={"step": "unpacked", "column": name},
            make=partial(registry.unpacked, name, tuple(schema.names[1:])),
            schema=schema,
            batch=columns(scored, "question_id", name),
            aligned=False,
            tolerant=True,
        )
    )
