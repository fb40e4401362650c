"""Going on with a run that was stopped."""

from __future__ import annotations

from dataclasses import replace

from rayeval import files
from rayeval.execution.evaluate import execute
from rayeval.execution.job import Job, read_job
from rayeval.execution.lock import held
from rayeval.execution.progress import Watcher
from rayeval.execution.runs import MANIFEST, Run, locate
from rayeval.execution.score.config import ScoreConfig
from rayeval.execution.score.run import execute_score


def resume_run(
    run: str,
    runs: str,
    watcher: Watcher,
    *,
    ray: bool = False,
    ray_address: str | None = None,
    workers: int | None = None,
) -> Run:
    """The finished run: as it is if it was finished, else from where it stopped."""
    folder = locate(run, runs)
    with held(folder):
        if files.exists(f"{folder}/{MANIFEST}"):
            return Run(folder)
        job = read_job(folder)
        job.options = replace(
            job.options,
            ray=ray or (job.options.ray and ray_address is None),
            ray_address=ray_address or job.options.ray_address,
            workers=workers or job.options.workers,
        )
        return executed(job, watcher)


def executed(job: Job, watcher: Watcher) -> Run:
    """Goes on with whatever kind of run it is."""
    if isinstance(job.config, ScoreConfig):
        return execute_score(job, watcher)
    return execute(job, watcher)
