"""Writing a run's files and, last of all, the manifest that makes them a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from rayeval import files, registry
from rayeval.corpus.catalogue import snapshot_hash
from rayeval.execution import artifacts, latency, manifest
from rayeval.execution import inputs as store_inputs
from rayeval.execution.driver import Done
from rayeval.execution.executor import Executor
from rayeval.execution.job import Job
from rayeval.execution.models import judge_pins, judge_records, models
from rayeval.execution.plan.plan import Inputs, Plan, Steps
from rayeval.execution.runs import MANIFEST, PLAN, Run, sealed
from rayeval.execution.store import read
from rayeval.report.unfinished import unfinished
from rayeval.report.write import write_report


def commit_run(
    job: Job,
    inputs: Inputs,
    plan: Plan,
    done: Mapping[str, Done],
    warnings: Sequence[str],
    executor: Executor,
) -> None:
    """Tables, latency, report; then the manifest."""
    root, config = job.options.root, job.of_run
    files.clear_folder(job.folder, keep=PLAN)  # what a killed driver left half-written
    serial = latency.Serial()
    if config.latency.sample:
        serial = latency.serial_pass(
            root, plan, executor, sample=config.latency.sample, seed=config.seed
        )
    [written] = executor.call(artifacts.write_tables, [(job.folder, plan.sources(root))])
    written["latency.parquet"] = artifacts.write_one(
        job.folder, "latency.parquet", latency.latency_tables(root, plan, done, serial)
    )
    made_of = _made_of(job, inputs, plan, done)
    seal(job, {**made_of, **described(job, plan, done, warnings)}, written)


def seal(job: Job, value: dict[str, Any], written: dict[str, dict[str, Any]]) -> None:
    """The reports and, last of all, the manifest that makes the written files a run.

    value: the manifest. written: what it says of the tables.
    """
    run = Run.uncommitted(job.folder, {**value, "files": dict(written)})
    for name, data in write_report(run).items():
        written[name] = files.put(job.folder, name, data)
    written[PLAN] = files.described(files.read_bytes(f"{job.folder}/{PLAN}"))
    value |= {"ended": manifest.now(), "files": written, "unfinished": unfinished(run)}
    files.write_json(f"{job.folder}/{MANIFEST}", sealed(value))


def _made_of(job: Job, inputs: Inputs, plan: Plan, done: Mapping[str, Done]) -> dict[str, Any]:
    """What only a pipeline that rayeval ran has."""
    config = job.of_run
    catalogue = read(store_inputs.paths(job.options.root, plan.catalogue.key)[0])
    return {
        "environment": config.environment,
        "config_path": job.config_path,
        "limit": job.options.limit,
        "golden": {"path": config.golden.path, "sha256": inputs.golden_sha256},
        "corpus": {
            "path": config.corpus.path,
            "snapshot": snapshot_hash(catalogue),
            "documents": catalogue.num_rows,
            "sources": pc.count_distinct(catalogue["source_id"]).as_py(),
            "chunks": done[plan.chunks.key].rows,
            "extractors": registry.extractors(inputs.units),
        },
        "stages": [timed.stage for timed in plan.timed if timed.traced],
        "answers": [] if config.answer is None else list(config.answer.variants),
        "models": models(config),
        "judge": judge_pins(config.judge),
        "calibration": judge_records(config.judge),
        "tokenizer": config.tokenizer.identity(),
        "seed": config.seed,
    }


def described(
    job: Job, plan: Steps, done: Mapping[str, Done], warnings: Sequence[str]
) -> dict[str, Any]:
    """What the manifest of every run says."""
    return {
        "version": 1,
        "run_id": job.run_id,
        "name": job.config.name,
        "config": job.config.model_dump(mode="json"),
        "steps": {
            step.name: {
                "key": step.key,
                "rows": done[step.key].rows,
                "errors": len(done[step.key].errors),
                "identity": dict(step.identity),
            }
            for step in plan.steps
        },
        "warnings": list(warnings),
        "code": manifest.code(str(Path(job.config_path).absolute().parent)),
        "libraries": manifest.libraries(),
        "hardware": manifest.hardware(),
        "started": job.started,
    }
