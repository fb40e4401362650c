"""`rayeval run`."""

from __future__ import annotations

from typing import Annotated

import typer

from rayeval.cli import options
from rayeval.errors import EXIT_INFRASTRUCTURE, EXIT_PASS


def run(
    config: options.Config,
    ray: options.Ray = False,
    ray_address: options.RayAddress = None,
    workers: options.Workers = None,
    store: options.Store = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Only the first N questions by id.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be computed, from where, how much.")
    ] = False,
    runs: options.Runs = "runs",
    sets: options.Sets = None,
    json: options.Json = False,
) -> int:
    """Run the configured pipeline and leave an immutable run.

    Example: `rayeval run configs/quickstart.yaml --set chunk.size=300`
    """
    from rayeval.execution.evaluate import preview, run_config
    from rayeval.execution.hints import hints
    from rayeval.execution.job import Options
    from rayeval.execution.load import load_config
    from rayeval.execution.progress import Bars
    from rayeval.report.dry_run import dry_run_text, over_budget, total
    from rayeval.report.terminal import run_text

    loaded = load_config(config, sets or ())
    where = Options(runs, store, ray, ray_address, workers, limit)
    if dry_run:
        rows, asked = preview(loaded, where)
        notes = [str(problem) for problem in hints(loaded.config, loaded.path)]
        if json:
            warnings = [*over_budget(asked), *notes]
            document = {"steps": rows, "requests": asked, "total": total(asked)}
            options.print_json({**document, "warnings": warnings})
        else:
            print(dry_run_text(rows, asked, notes))  # noqa: T201
        return EXIT_PASS
    with Bars() as bars:
        result = run_config(loaded, where, bars)
    if json:
        options.print_json(result.summary())
    else:
        print(run_text(result, told=options.one_screen()))  # noqa: T201
    return exit_code(result.summary()["status"])


def exit_code(status: dict[str, int]) -> int:
    """0, unless not one question could be processed."""
    return EXIT_INFRASTRUCTURE if status["error"] and sum(status.values()) == status["error"] else 0
