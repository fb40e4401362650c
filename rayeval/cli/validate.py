"""`rayeval validate`."""

from __future__ import annotations

from rayeval.cli import options
from rayeval.errors import EXIT_INVALID, EXIT_PASS


def validate(
    config: options.Config,
    store: options.Store = None,
    runs: options.Runs = "runs",
    sets: options.Sets = None,
    json: options.Json = False,
) -> int:
    """Report every problem of a configuration, its corpus and its golden set at once.

    Example: `rayeval validate rayeval.yaml`
    """
    from rayeval.execution.job import Options
    from rayeval.execution.validate import validate_config
    from rayeval.report.lines import wrapped
    from rayeval.words import plural

    problems = validate_config(config, sets or (), Options(runs, store))
    bad = [problem for problem in problems if not problem.warning]
    warnings = [problem for problem in problems if problem.warning]
    if json:
        rows = {"problems": bad, "warnings": warnings}
        options.print_json({name: [p.json() for p in found] for name, found in rows.items()})
        return EXIT_INVALID if bad else EXIT_PASS
    for problem in bad:
        print(wrapped(f"problem  {problem}"))  # noqa: T201
    for problem in warnings:
        print(wrapped(f"warning  {problem}"))  # noqa: T201
    counts = f"{plural(len(bad), 'problem')}, {plural(len(warnings), 'warning')}"
    print(f"{counts} in {config}")  # noqa: T201
    return EXIT_INVALID if bad else EXIT_PASS
