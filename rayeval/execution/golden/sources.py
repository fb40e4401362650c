"""What a golden command was given: a configuration, or a golden set with its documents."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePosixPath

import pyarrow as pa

from rayeval.errors import ConfigError, DataError, Problem
from rayeval.execution.config import RunConfig
from rayeval.execution.evaluate import executor_of
from rayeval.execution.job import Options
from rayeval.execution.reading import STAND_IN, Reading, read_values
from rayeval.execution.validate import examine
from rayeval.golden.load import load_questions


@contextmanager
def read_target(
    target: str, corpus: str | None, overrides: Sequence[str], options: Options
) -> Iterator[tuple[list[Problem], Reading | None]]:
    """Every problem that `validate` knows of, and what was read.

    target: a YAML configuration, or else a golden set. What a golden set and its documents become
    on the way is kept for the moment only, unless a store is named.
    """
    if is_config(target):
        if corpus is not None:
            raise ConfigError(f"{target} names its corpus; use --set corpus.path={corpus}")
        yield examine(target, overrides, options)
        return
    if overrides:
        raise ConfigError(f"--set changes a configuration, and {target} is a golden set")
    with tempfile.TemporaryDirectory(prefix="rayeval-") as folder:
        reading = read_files(target, corpus, Options(store=options.store or folder))
        yield reading.problems, reading


def read_files(golden: str, corpus: str | None, options: Options) -> Reading:
    """A golden set, and the documents at `corpus` if there are any."""
    values = {"golden": {"path": golden}} | ({} if corpus is None else {"corpus": {"path": corpus}})
    with executor_of(RunConfig.model_validate({**STAND_IN, **values}), options) as executor:
        return read_values(values, golden, options.root, executor)


def is_config(target: str) -> bool:
    """Whether it is a configuration, by its extension."""
    return PurePosixPath(target).suffix.lower() in (".yaml", ".yml")


def sound_questions(golden: str) -> pa.Table:
    """tables.QUESTIONS, by question_id.

    Raises DataError if the golden set breaks its contract.
    """
    questions, problems = load_questions(golden)
    if broken := [problem for problem in problems if not problem.warning]:
        raise DataError(broken)
    return questions


def sound_reading(golden: str, corpus: str, options: Options) -> Reading:
    """Golden set and documents; evidence that isn't found in these is no reason to stop.

    Raises DataError for what is wrong with the documents themselves.
    """
    reading = read_files(golden, corpus, options)
    if not reading.questions.num_rows:
        raise DataError(reading.problems)
    if broken := [p for p in reading.problems if p.question_id is None and not p.warning]:
        raise DataError(broken)
    return reading
