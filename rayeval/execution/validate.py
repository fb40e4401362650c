"""Every problem of a configuration, its corpus and its golden set at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rayeval.errors import Problem
from rayeval.execution.config import RunConfig
from rayeval.execution.doctor import probes
from rayeval.execution.evaluate import executor_of
from rayeval.execution.hints import hints
from rayeval.execution.job import Options
from rayeval.execution.load import read_config, validated
from rayeval.execution.plan.plan import make_plan
from rayeval.execution.reading import STAND_IN, Reading, read_values, right_parts, tried


def validate_config(path: str, overrides: Sequence[str], options: Options) -> list[Problem]:
    """Problems and warnings of every row, whatever `golden.splits` selects."""
    return sorted_once(examine(path, overrides, options)[0])


def examine(
    path: str, overrides: Sequence[str], options: Options
) -> tuple[list[Problem], Reading | None]:
    """Every problem, and what could be read.

    One thing wrong hides no other: documents and questions are read even if the rest of the
    configuration can't be run, and either of them even if the other isn't there.
    """
    problems: list[Problem] = []
    values = tried(lambda: read_config(path, overrides), path, problems)
    if values is None:
        return problems, None
    config = tried(lambda: validated(values, path), path, problems)
    placed = config or RunConfig.model_validate({**STAND_IN, **right_parts(values)})
    with executor_of(placed, options) as executor:
        reading = read_values(values, path, options.root, executor)
    problems += reading.problems
    if config is not None:
        problems += hints(config, path)
        for _, probe in probes(config):
            tried(probe, path, problems)
        tried(lambda: make_plan(config, reading.inputs), path, problems)
    return problems, reading


def sorted_once(problems: Iterable[Problem]) -> list[Problem]:
    """Each problem once, by file and line."""
    return sorted(set(problems), key=lambda p: (p.file, p.line or 0, p.kind, p.message))
