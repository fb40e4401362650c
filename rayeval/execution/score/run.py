"""From a golden set and a trace to a committed run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import polars as pl
import pyarrow as pa

from rayeval import registry
from rayeval.columns import flatten
from rayeval.errors import ConfigError, DataError, Problem
from rayeval.execution import inputs as outputs
from rayeval.execution.driver import Done
from rayeval.execution.evaluate import (
    begun,
    compute,
    executor_of,
    find_corpus,
    golden_hash,
    new_job,
)
from rayeval.execution.executor import Executor
from rayeval.execution.job import Job
from rayeval.execution.plan.plan import Steps
from rayeval.execution.progress import Silent, Watcher
from rayeval.execution.runs import Run
from rayeval.execution.score.commit import commit_score
from rayeval.execution.score.config import ScoreConfig
from rayeval.execution.score.either import told_apart
from rayeval.execution.score.golden import golden_file, refuse_beir, refuse_ours
from rayeval.execution.score.guessed import out_of_order
from rayeval.execution.score.inputs import ScoreInputs
from rayeval.execution.score.joining import joined
from rayeval.execution.score.options import ScoreOptions
from rayeval.execution.score.plan import ScorePlan, golden_plan, make_plan
from rayeval.execution.score.said import refuse_nameless
from rayeval.execution.score.spool import Spooled, hashed, spool_files, spooled_tables
from rayeval.execution.score.stages import in_order, names_of, own_config, pipeline_of, roles_of
from rayeval.execution.score.unknown import with_sum
from rayeval.execution.score.verdicts import judged_by
from rayeval.execution.score.warnings import walk_warnings, warnings_of
from rayeval.execution.store import read
from rayeval.interop.own.nameless import ONE_STAGE
from rayeval.interop.own.trace import TraceFile
from rayeval.metrics.pipeline import Pipeline
from rayeval.registry.scoring import Scoring

EMPTY = "no question has a stage"
CONVENTIONAL = (
    "gold is relevance {} or more, as trec_eval and BEIR have it; `--relevant N` says otherwise"
)
GIVEN = "the given trace"
"""What messages call a trace at hand."""


def score(
    golden: str,
    trace: Sequence[str],
    options: ScoreOptions | None = None,
    watcher: Watcher | None = None,
) -> Run:
    """Scores the trace in the files `trace` against the golden set at `golden`.

    Raises InputError if either is wrong, InfrastructureError if the machine is at fault.
    """
    options, watcher = options or ScoreOptions(), watcher or Silent()
    if options.convention == "trec":
        from rayeval.execution.score.trec import score_trec

        refuse_ours(golden)
        return score_trec(golden, trace, options, watcher)
    refuse_beir(golden)
    golden, relevant = golden_file(golden, trace, options.format, options.where.root, watcher)
    if options.relevant is None and relevant is not None:
        watcher.say(f"note  {CONVENTIONAL.format(relevant)}")
        options = replace(options, relevant=relevant)
    config = options.config(golden, trace)
    return begun(new_job(config, "score", options.where), execute_score, watcher)


def score_tables(
    golden: str,
    tables: Iterable[pa.Table],
    options: ScoreOptions | None = None,
    watcher: Watcher | None = None,
) -> Run:
    """As `score`, of a trace at hand: tables of schema FOREIGN."""
    options = options or ScoreOptions()
    with spooled_tables(tables, options.where.root) as paths:
        if not paths:
            raise DataError([Problem(GIVEN, None, None, "empty_trace", EMPTY)])
        return score(golden, paths, replace(options, format=None, label=GIVEN), watcher)


def execute_score(job: Job, watcher: Watcher) -> Run:
    """Computes what is missing, writes the run's files and commits them."""
    config, root = job.of_score, job.options.root
    with executor_of(config, job.options) as executor:
        golden = golden_hash(config.golden.path)
        spooled = spool_files(config.trace.paths, config.trace.format, root)
        corpus = ((), ()) if config.corpus is None else find_corpus(config.corpus, executor)
        inputs = ScoreInputs(golden, spooled.sha256, hashed(config.chunks), *corpus)
        job.pin(inputs.pins)
        _check(config, spooled)
        first = golden_plan(config, inputs, root)
        before, found = compute(root, first, executor, watcher)
        trace = joined(spooled, _questions(root, first), config.trace.name, root)
        documents = _documents(root, first)
        told, kinds = told_apart(trace.spooled, config.chunks, documents, config.trace.name, root)
        watcher.say(f"run {job.run_id}")
        pipeline, notes = _pipeline(config, told)
        scoring, judge = _scoring(config, told, pipeline), told.judge
        plan = make_plan(config, inputs, scoring, told.answers, judge, root)
        done, found_out = _scored(job, plan, scoring, executor, watcher, before)
        said = [*spooled.notes, *trace.notes, *kinds, *notes, *judged_by(config, judge)]
        said += [] if config.corpus is None else map(str, registry.lost_links(config.corpus))
        said += warnings_of(root, plan, config)  # what is refused is refused before all is summed
        done, warnings = compute(root, plan, executor, watcher, done)
        said += walk_warnings(root, plan, pipeline)
        for line in said:
            watcher.say(f"warning  {line}")
        every = [*said, *found, *found_out, *warnings]
        commit_score(job, plan, done, every, executor, judge)
    return Run(job.folder)


def _scored(
    job: Job,
    plan: ScorePlan,
    scoring: Scoring,
    executor: Executor,
    watcher: Watcher,
    before: Mapping[str, Done],
) -> tuple[dict[str, Done], list[str]]:
    """What scoring the questions needs, computed; and warnings.

    Raises DataError with all that is wrong with the trace.
    """
    steps = Steps(tuple(plan.needed(plan.scored)), plan.resolved)
    try:
        return compute(job.options.root, steps, executor, watcher, before)
    except DataError as error:
        file = job.of_score.trace.name
        problems = with_sum(error.problems, scoring.paths, scoring.chunks, file)
        raise DataError(problems, foreign=True) from None


def _check(config: ScoreConfig, spooled: Spooled) -> None:
    """Raises InputError for a trace that can't be scored, whatever the golden set is."""
    names = pa.concat_tables(TraceFile(path).names for path in spooled.paths)
    refuse_nameless(names, config.trace.name)
    if not names.num_rows:
        raise DataError([Problem(config.trace.name, None, None, "empty_trace", EMPTY)])
    if config.judge is not None and not spooled.answers:
        raise ConfigError(
            f"{config.trace.name} has no answers to judge: leave out --judge, or give the "
            "trace's questions their `answer`"
        )


def _questions(root: str, plan: Steps) -> pl.DataFrame:
    """`question_id, question` of the golden set."""
    paths = outputs.paths(root, plan.resolved.key)
    tables = [read(path, ["question_id", "question"]) for path in paths]
    return pl.DataFrame(pl.from_arrow(pa.concat_tables(tables)))


def _documents(root: str, plan: Steps) -> pl.Series:
    """The sources that the golden set names, and those of the corpus."""
    keys = [step.key for step in plan.steps if step.name == "catalogue"]
    paths = [path for key in keys for path in outputs.paths(root, key)]
    found = [pl.Series(read(path, ["source_id"])["source_id"]) for path in paths]
    for path in outputs.paths(root, plan.resolved.key):
        found.append(pl.Series(flatten(read(path, ["evidence"])["evidence"])[1].field("source_id")))
    return pl.concat([pl.Series([], dtype=pl.String), *(s.cast(pl.String) for s in found)]).unique()


def _pipeline(config: ScoreConfig, spooled: Spooled) -> tuple[Pipeline, list[str]]:
    """The stages of the trace, and warnings of what is a guess about them."""
    names = pa.concat_tables(TraceFile(path).names for path in spooled.paths)
    own = own_config(config.trace.paths[0]) if len(config.trace.paths) == 1 else None
    roles = roles_of(names_of(names), own, config.trace.roles)
    order = in_order(names, roles)
    stages = order.stages or (ONE_STAGE,)  # of questions that all failed before any stage
    pipeline = pipeline_of(stages, roles, own)
    notes = list(out_of_order(order.doubtful, pipeline))
    if spooled.answers is None:
        return pipeline, notes
    told = () if spooled.judge is None else spooled.judge.tasks
    asked = told if config.judge is None else tuple(config.judge.asked)
    return replace(pipeline, answers=("answer",), judged=asked), notes


def _scoring(config: ScoreConfig, spooled: Spooled, pipeline: Pipeline) -> Scoring:
    """How the trace is scored."""
    return Scoring(
        paths=spooled.paths,
        stages=pipeline.stages,
        pipeline=pipeline,
        metrics=config.metrics,
        any_order=config.trace.any_order,
        refusals=config.trace.refusals,
        depth=None if config.trace.keep else config.metrics.depth,
        chunks=tuple(config.chunks),
        handed=_handed(spooled, pipeline),
    )


def _handed(spooled: Spooled, pipeline: Pipeline) -> str | None:
    """The stage with what answers were handed, where there are answers and it can be known."""
    if spooled.answers is None:
        return None
    contexts = [stage.name for stage in pipeline.later if stage.kind == "context"]
    if spooled.contexts and not contexts:
        return pipeline.stages[-1]
    return contexts[-1] if contexts else None
