"""Every problem of a configuration, its corpus and its golden set at once."""

from __future__ import annotations

from collections.abc import Sequence

from rayeval.errors import DataError, InputError, Problem
from rayeval.execution.config import RunConfig
from rayeval.execution.driver import run_step
from rayeval.execution.evaluate import executor_of, find_inputs
from rayeval.execution.job import Options
from rayeval.execution.load import load_config
from rayeval.execution.plan.plan import make_plan
from rayeval.execution.problems import problems_of
from rayeval.execution.progress import Silent


def validate_config(path: str, overrides: Sequence[str], options: Options) -> list[Problem]:
    """Problems and warnings of every row, whatever `golden.splits` selects."""
    try:
        loaded = load_config(path, overrides)
        golden = loaded.config.golden.model_copy(update={"splits": None})
        config = loaded.config.model_copy(update={"golden": golden})
        return sorted(_found(config, options), key=_order)
    except DataError as error:
        return error.problems
    except InputError as error:
        return [Problem(path, None, None, "invalid_configuration", line) for line in _lines(error)]


def _found(config: RunConfig, options: Options) -> list[Problem]:
    problems: list[Problem] = []
    with executor_of(config, options) as executor:
        plan = make_plan(config, find_inputs(config, executor))
        for step in plan.needed(plan.resolved):
            done = run_step(options.root, step, executor, Silent())
            problems += problems_of(options.root, done)
    return problems


def _lines(error: InputError) -> list[str]:
    return str(error).splitlines()


def _order(problem: Problem) -> tuple[str, int, str, str]:
    return problem.file, problem.line or 0, problem.kind, problem.message
