"""Evaluate a configuration as a Ray job.

    ray job submit --working-dir . -- python jobs/evaluate.py configs/quickstart.yaml \
        --runs /shared/runs --verdict /shared/verdict.json

A job's own folder is Ray's copy of the working directory and goes with it, so name both outside it.
The verdict file says how it ended, since a job's own exit code is not passed on by every scheduler:
{"exit_code": 0, "run_id": …, "path": …, "status": …} or {"exit_code": 2, "error": …}.
"""

from __future__ import annotations

import sys
import traceback
from typing import Annotated, Any

import typer

from rayeval import files
from rayeval.cli.run import exit_code
from rayeval.errors import EXIT_INFRASTRUCTURE, RayevalError
from rayeval.execution.evaluate import run_config
from rayeval.execution.job import Options
from rayeval.execution.load import load_config
from rayeval.execution.progress import Bars
from rayeval.report.terminal import run_text


def evaluate(
    config: Annotated[str, typer.Argument(help="A YAML configuration.")],
    verdict: Annotated[str | None, typer.Option(help="Where to write how it ended.")] = None,
    runs: Annotated[
        str, typer.Option(help="The folder of runs, on storage all nodes see.")
    ] = "runs",
    store: Annotated[str | None, typer.Option(help="The store [RUNS/.store].")] = None,
    address: Annotated[str, typer.Option(help="The Ray cluster.")] = "auto",
    workers: Annotated[int | None, typer.Option(help="Override placement.workers.")] = None,
    sets: Annotated[list[str] | None, typer.Option("--set", help="KEY=VALUE; repeatable.")] = None,
) -> None:
    """Run CONFIG on the Ray cluster that this job was submitted to."""
    try:
        with Bars() as bars:
            options = Options(files.absolute(runs), store, ray_address=address, workers=workers)
            result = run_config(load_config(config, sets or ()), options, bars)
        print(run_text(result))
        summary = result.summary()
        said: dict[str, Any] = {name: summary[name] for name in ("run_id", "path", "status")}
        said["exit_code"] = exit_code(summary["status"])
    except RayevalError as error:
        print(f"rayeval: {error}", file=sys.stderr)
        said = {"exit_code": error.exit_code, "error": str(error)}
    except Exception as error:  # noqa: BLE001 - whatever happens, the caller finds a verdict
        traceback.print_exc()
        said = {"exit_code": EXIT_INFRASTRUCTURE, "error": f"{type(error).__name__}: {error}"}
    if verdict is not None:
        files.write_json(verdict, said)
    raise typer.Exit(said["exit_code"])


if __name__ == "__main__":
    typer.run(evaluate)
