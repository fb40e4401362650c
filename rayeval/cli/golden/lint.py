"""`rayeval golden lint`."""

from __future__ import annotations

from typing import Annotated

import typer

from rayeval.cli import options
from rayeval.errors import EXIT_INVALID, EXIT_PASS


def lint(
    target: Annotated[
        str, typer.Argument(metavar="CONFIG|GOLDEN", help="A YAML configuration or a golden set.")
    ],
    corpus: Annotated[
        str | None, typer.Option("--corpus", metavar="C", help="The golden set's documents.")
    ] = None,
    detect: Annotated[
        float,
        typer.Option(
            "--detect", min=0.001, max=0.999, help="The difference that a slice ought to show."
        ),
    ] = 0.1,
    store: options.Store = None,
    runs: options.Runs = "runs",
    sets: options.Sets = None,
    json: options.Json = False,
) -> int:
    """Find what is wrong or doubtful in a golden set, beyond what `validate` refuses.

    Example: `rayeval golden lint golden.jsonl --corpus docs`
    """
    from rayeval.execution.golden.lint import lint as linted
    from rayeval.execution.golden.sources import is_config
    from rayeval.execution.job import Options
    from rayeval.report.golden import problems_text

    if corpus is None and not is_config(target):
        options.say("without --corpus nothing is checked against the documents")
    settings = Options(runs, store)
    problems = linted(target, corpus, overrides=sets or (), options=settings, detect=detect)
    bad = [problem for problem in problems if not problem.warning]
    warnings = [problem for problem in problems if problem.warning]
    if json:
        rows = {"problems": bad, "warnings": warnings}
        options.print_json({name: [p.json() for p in found] for name, found in rows.items()})
    else:
        print(problems_text(target, bad, warnings))  # noqa: T201
    return EXIT_INVALID if bad else EXIT_PASS
