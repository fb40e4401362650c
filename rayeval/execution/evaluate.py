"""From a configuration to a committed run."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from rayeval import files, registry
from rayeval.corpus.config import Corpus
from rayeval.corpus.units import Unit
from rayeval.errors import DataError, InfrastructureError, InputError
from rayeval.execution import manifest
from rayeval.execution.cluster import choose
from rayeval.execution.commit import commit_run
from rayeval.execution.config import RunConfig
from rayeval.execution.driver import Done, parts_of, rows_ahead, run_step
from rayeval.execution.environment import refuse_unset
from rayeval.execution.estimates import estimates
from rayeval.execution.executor import Executor
from rayeval.execution.hints import hints
from rayeval.execution.job import Job, Options
from rayeval.execution.load import Loaded
from rayeval.execution.local import LocalExecutor
from rayeval.execution.lock import held
from rayeval.execution.placement import Placement
from rayeval.execution.plan.plan import Inputs, Steps, make_plan, sequence
from rayeval.execution.problems import blocking, problems_of
from rayeval.execution.progress import Watcher
from rayeval.execution.runs import Run
from rayeval.execution.score.config import ScoreConfig
from rayeval.execution.step import Step
from rayeval.execution.store import Output

SHOWN = 20
"""Warnings that a run says aloud; its manifest has all of them."""


def run_config(loaded: Loaded, options: Options, watcher: Watcher) -> Run:
    """Runs a configuration."""
    return begun(new_job(loaded.config, loaded.path, options), execute, watcher)


def new_job(config: RunConfig | ScoreConfig, path: str, options: Options) -> Job:
    """A run that nothing is done of yet."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    run_id = f"{stamp}-{config.name}-{secrets.token_hex(2)}"
    folder = f"{options.runs.rstrip('/')}/{run_id}"
    return Job(run_id, folder, path, config, options, manifest.now())


def begun(job: Job, execute: Callable[[Job, Watcher], Run], watcher: Watcher) -> Run:
    """The run of a new job; a folder that can be resumed is left only where that may help."""
    folder = job.folder
    try:
        job.save()
    except (InfrastructureError, InputError):
        files.delete_folder(folder)  # nothing is in it that could be resumed
        raise
    with held(folder):
        try:
            return execute(job, watcher)
        except InputError:
            files.delete_folder(job.folder)
            raise
        except (InfrastructureError, OSError, MemoryError, KeyboardInterrupt):
            watcher.say(f"stopped; `rayeval resume {folder}` goes on where it was")
            raise


def execute(job: Job, watcher: Watcher) -> Run:
    """Computes what is missing, writes the run's files and commits them."""
    with executor_of(job.config, job.options) as executor:
        inputs = find_inputs(job.of_run, executor)
        job.pin(inputs.pins)
        watcher.say(f"run {job.run_id}")
        plan = make_plan(job.of_run, inputs, job.options.limit, job.options.root)
        if not (job.options.ray or job.options.ray_address):  # else workers have their own
            refuse_unset(job.of_run, plan, job.options.root)
        odd = [str(problem) for problem in hints(job.of_run, job.config_path)]
        odd += [str(problem) for problem in registry.lost_links(job.of_run.corpus)]
        for line in odd:
            watcher.say(f"warning  {line}")
        done, warnings = compute(job.options.root, plan, executor, watcher)
        if sample := job.of_run.latency.sample:
            n = min(sample, done[plan.resolved.key].rows)
            watcher.say(f"  {'latency':<22} {n:>9,} questions, measured one at a time …")
        commit_run(job, inputs, plan, done, [*odd, *warnings], executor)
    return Run(job.folder)


def compute(
    root: str,
    plan: Steps,
    executor: Executor,
    watcher: Watcher,
    before: Mapping[str, Done] | None = None,
) -> tuple[dict[str, Done], list[str]]:
    """Every step's whole output, by key, and the warnings about the user's files.

    before: what is computed, and was warned about, already.
    """
    done = dict(before or {})
    warnings: list[str] = []
    for step in sequence(plan):
        if step.key in done:
            continue
        done[step.key] = run_step(root, step, executor, watcher)
        found = problems_of(root, done[step.key])
        if blocking(found):
            raise DataError(blocking(found))
        for problem in found[: max(0, SHOWN - len(warnings))]:
            watcher.say(f"warning  {problem}")
        warnings += [str(problem) for problem in found]
    if len(warnings) > SHOWN:
        rest = len(warnings) - SHOWN
        watcher.say(f"warning  … and {rest} more; `rayeval validate` lists them all")
    return done, warnings


def find_inputs(config: RunConfig, executor: Executor) -> Inputs:
    """The golden set and the corpus by content."""
    units, prints = find_corpus(config.corpus, executor)
    return Inputs(units, prints, golden_hash(config.golden.path))


def find_corpus(config: Corpus, executor: Executor) -> tuple[tuple[Unit, ...], tuple[str, ...]]:
    """What there is to read, and its content by hash."""
    units = registry.units(config)
    return tuple(units), tuple(executor.call(registry.fingerprint, units))


def golden_hash(path: str) -> str:
    """The golden set's content by hash."""
    files.check_file(path, "golden.path")
    return hashlib.sha256(files.read_bytes(path)).hexdigest()


@contextmanager
def executor_of(config: RunConfig | ScoreConfig, options: Options) -> Iterator[Executor]:
    """Local processes, or a Ray cluster, placed as a configuration says."""
    with placed(config.placement, options) as executor:
        yield executor


@contextmanager
def placed(placement: Placement, options: Options) -> Iterator[Executor]:
    """Local processes, or a Ray cluster."""
    changes = {} if options.workers is None else {"workers": options.workers}
    placement = placement.model_copy(update=changes)
    executor: Executor
    if options.ray or options.ray_address:
        address = choose(options.ray_address)
        from rayeval.execution.ray import RayExecutor

        executor = RayExecutor(files.absolute(options.root), placement, address)
    else:
        executor = LocalExecutor(options.root, placement)
    try:
        yield executor
    except executor.lost as error:
        raise InfrastructureError(
            f"a worker process is gone, often for want of memory: {error} Fewer workers "
            f"(--workers 1) need less of it."
        ) from error
    finally:
        executor.close()


def preview(loaded: Loaded, options: Options) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What a run would do: per step where its output stands, and its size where known; per step
    that asks a chat model, what that comes to at most."""
    with executor_of(loaded.config, Options(options.runs, options.store)) as executor:
        inputs = find_inputs(loaded.config, executor)
    plan = make_plan(loaded.config, inputs, options.limit, options.root)
    standing = [_standing(options.root, step) for step in sequence(plan)]
    return standing, estimates(loaded.config, plan, options.root, options.limit)


def _standing(root: str, step: Step) -> dict[str, Any]:
    """One step of a dry run."""
    output = Output(root, step.key)
    whole, commits = output.manifest() is not None, output.commits()
    known = step.kind == "produce" or Output(root, step.batch[0].key).manifest() is not None
    parts = parts_of(root, step) if known else None
    state = "stored" if whole else "compute" if not commits else "continue"
    sizes = [file for commit in commits.values() for file in commit.files]
    return {
        "step": step.name,
        "state": state,
        "partitions": parts,
        "partitions_stored": len(commits),
        "rows": sum(file.rows for file in sizes) if whole else rows_ahead(root, step),
        "bytes_stored": sum(file.size_bytes for file in sizes),
        "key": step.key,
    }
