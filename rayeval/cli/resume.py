"""`rayeval resume`."""

from __future__ import annotations

from rayeval.cli import options
from rayeval.cli.run import exit_code


def resume(
    run: options.RunName,
    ray: options.Ray = False,
    ray_address: options.RayAddress = None,
    workers: options.Workers = None,
    runs: options.Runs = "runs",
    json: options.Json = False,
) -> int:
    """Go on with a run that was stopped or killed; finished work is not done again.

    Example: `rayeval resume 20260801-093000-quickstart-1f3a`
    """
    from rayeval.execution.progress import Bars
    from rayeval.execution.resume import resume_run
    from rayeval.report.terminal import run_text

    with Bars() as bars:
        result = resume_run(run, runs, bars, ray=ray, ray_address=ray_address, workers=workers)
    if json:
        options.print_json(result.summary())
    else:
        print(run_text(result, told=options.one_screen()))  # noqa: T201
    return exit_code(result.summary()["status"])
