"""The steps of a score: questions, where their gold lies, and what the trace has of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from rayeval import registry
from rayeval.execution.plan.builder import Builder, columns, with_error
from rayeval.execution.plan.corpus import DocumentSteps, document_steps
from rayeval.execution.plan.plan import Steps
from rayeval.execution.plan.questions import GoldenFile, asked, question_steps
from rayeval.execution.plan.totals import Numbered, total_steps
from rayeval.execution.score.answers import Answered, answered, answers_step, reading
from rayeval.execution.score.config import ScoreConfig
from rayeval.execution.score.inputs import ScoreInputs
from rayeval.execution.score.looking import Looked, looking_steps
from rayeval.execution.score.verdicts import ToldJudge
from rayeval.execution.step import Step
from rayeval.golden.evaluate import EVALUATED
from rayeval.marked import GOLDEN, TRACE
from rayeval.metrics.answers.scores import SCORES
from rayeval.metrics.failure.first_failure import FAILURES
from rayeval.registry.scoring import READ, Scoring
from rayeval.tables import CATALOGUE, QUESTIONS


@dataclass(frozen=True)
class ScorePlan(Steps):
    """The steps of a score, and the outputs that matter."""

    catalogue: Step
    answers: Step | None
    """What the trace answers, where it does."""
    scored: Step
    looked: Looked | None
    """What the documents say of the trace; None: there are none."""
    tables: tuple[tuple[str, Step], ...]
    """Outputs that are tables of the run as they are."""


def golden_plan(config: ScoreConfig, inputs: ScoreInputs, root: str | None = None) -> Steps:
    """The questions as they are stated, and what reads them: the same steps as in `make_plan`."""
    builder = Builder(config, root=root)
    if config.corpus is None:
        catalogue = builder.add(_no_corpus())
    else:
        catalogue = document_steps(
            builder, config.corpus, config.parse, inputs.units, inputs.fingerprints
        ).catalogue
    questions = asked(builder, GoldenFile(config.golden, inputs.golden_sha256), catalogue)
    every = Steps(tuple(builder.steps.values()), questions)
    return Steps(tuple(every.needed(questions)), questions)


def make_plan(
    config: ScoreConfig,
    inputs: ScoreInputs,
    scoring: Scoring,
    given: str | None = None,
    judge: ToldJudge | None = None,
    root: str | None = None,
) -> ScorePlan:
    """The steps over what `inputs` found.

    scoring: how the trace is read. given: the key of its answers, where it has some. judge: whose
    verdicts on them came with it. root: the store that the run will use.
    """
    builder = Builder(config, root=root)
    golden = GoldenFile(config.golden, inputs.golden_sha256)
    if config.corpus is None:
        looked, catalogue = None, builder.add(_no_corpus())
        resolved = _stated(builder, golden, catalogue)
    else:
        corpus: DocumentSteps = document_steps(
            builder, config.corpus, config.parse, inputs.units, inputs.fingerprints
        )
        catalogue = corpus.catalogue
        resolved = question_steps(builder, golden, corpus)
        looked = looking_steps(builder, inputs, scoring, corpus, config.tokenizer)
    whole = {"catalogue": catalogue.key, **({} if looked is None else looked.whole)}
    found, answers = Answered(), None
    if given is not None:
        told = {**whole, "given": given}
        answers = builder.add(answers_step(config, inputs, scoring, resolved, told))
        found = answered(builder, config, answers, resolved, judge)
    scored = builder.add(_scored(config, inputs, scoring, resolved, whole, found))
    tables = (*_tables(builder, scoring, scored, resolved), *found.tables.items())
    steps = tuple(builder.steps.values())
    return ScorePlan(steps, resolved, catalogue, answers, scored, looked, tables)


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
            names={GOLDEN: golden.config.path},
        )
    )


def _scored(
    config: ScoreConfig,
    inputs: ScoreInputs,
    scoring: Scoring,
    resolved: Step,
    whole: Mapping[str, str],
    said: Answered,
) -> Step:
    return Step(
        name="scored",
        kind="map",
        identity={"step": "scored", "v": 9, **reading(config, inputs, scoring)},
        make=partial(registry.scorer, scoring, config.tokenizer, config.corpus is not None),
        schema=scoring.schema,
        batch=(*columns(resolved, *READ, "reference_answer"), *said.columns),
        whole=whole,
        tolerant=True,
        names={TRACE: config.trace.name},
        threads=not scoring.counts_tokens,  # not every tokenizer bears several at once
    )


def _tables(
    builder: Builder, scoring: Scoring, scored: Step, resolved: Step
) -> tuple[tuple[str, Step], ...]:
    """File name → the step whose output is that table."""
    numbers = scoring.numbers
    per_answer = None
    if scoring.pipeline.answers:
        per_answer = _unpacked(builder, scored, "per_answer", numbers.answers_schema)
    scores = Step(
        name="top_scores",
        kind="map",
        identity={"step": "top_scores"},
        make=registry.trace_scores,
        schema=SCORES,
        batch=columns(scored, "question_id", "trace"),
        aligned=False,
        tolerant=True,
    )
    told = Numbered(
        resolved,
        per_query=_unpacked(builder, scored, "per_query", numbers.schema),
        failures=_unpacked(builder, scored, "failures", FAILURES),
        scores=builder.add(scores),
        per_answer=per_answer,
    )
    return tuple(total_steps(builder, numbers, told).items())


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
