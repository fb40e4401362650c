"""Every problem of a configuration, its corpus and its golden set at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from rayeval import registry
from rayeval.corpus.config import Corpus, Parse
from rayeval.errors import DataError, InputError, Problem
from rayeval.execution import inputs as outputs
from rayeval.execution.config import RunConfig
from rayeval.execution.doctor import probes
from rayeval.execution.driver import run_step
from rayeval.execution.evaluate import executor_of, find_corpus, golden_hash
from rayeval.execution.executor import Executor
from rayeval.execution.job import Options
from rayeval.execution.load import read_config, validated
from rayeval.execution.plan.plan import Inputs, Plan, make_plan
from rayeval.execution.problems import problems_of
from rayeval.execution.progress import Silent
from rayeval.execution.step import Step
from rayeval.execution.store import read
from rayeval.golden.config import Golden
from rayeval.golden.load import load_questions
from rayeval.metrics.config import Metrics
from rayeval.stage import StageConfig

T = TypeVar("T")
PARTS: dict[str, type[StageConfig]] = {
    "golden": Golden, "corpus": Corpus, "parse": Parse, "metrics": Metrics,
}  # fmt: skip
"""What reading documents and questions needs of a configuration."""
STAND_IN: dict[str, Any] = {
    "golden": {"path": "none.jsonl"},
    "corpus": {"path": "none"},
    "chunk": {"kind": "fixed", "size": 400},
    "retrieve": {"arms": {"bm25": {"kind": "bm25", "analyzer": {"kind": "whitespace"}}}},
}
"""What stands for the rest, which may be wrong or want a model that isn't there."""


def validate_config(path: str, overrides: Sequence[str], options: Options) -> list[Problem]:
    """Problems and warnings of every row, whatever `golden.splits` selects.

    One thing wrong hides no other: documents and questions are read even if the rest of the
    configuration can't be run, and either of them even if the other isn't there.
    """
    problems: list[Problem] = []
    values = _tried(lambda: read_config(path, overrides), path, problems)
    if values is not None:
        config = _tried(lambda: validated(values, path), path, problems)
        parts = _parts(values)
        reading = RunConfig.model_validate({**STAND_IN, **parts})
        with executor_of(config or reading, options) as executor:
            inputs = _inputs(parts, path, executor, problems)
            root = options.root
            _tried(lambda: _read(reading, inputs, root, executor, problems), path, problems)
        if config is not None:
            for _, probe in probes(config):
                _tried(probe, path, problems)
            _tried(lambda: make_plan(config, inputs), path, problems)
    return sorted(set(problems), key=lambda p: (p.file, p.line or 0, p.kind, p.message))


def _parts(values: Mapping[str, Any]) -> dict[str, StageConfig]:
    """Those of PARTS that are given and right by themselves."""
    parts = {}
    for name in PARTS.keys() & values.keys():
        try:
            parts[name] = PARTS[name].model_validate(values[name])
        except ValueError:
            continue  # `validated` has said what is wrong with it
    return parts


def _inputs(
    parts: Mapping[str, Any], path: str, executor: Executor, problems: list[Problem]
) -> Inputs:
    """What is there to be read; nothing for what isn't."""
    corpus = golden = None
    if "corpus" in parts:
        corpus = _tried(lambda: find_corpus(parts["corpus"], executor), path, problems)
    if "golden" in parts:
        golden = _tried(lambda: golden_hash(parts["golden"].path), path, problems)
    return Inputs(*(corpus or ((), ())), golden or "")


def _read(
    reading: RunConfig, inputs: Inputs, root: str, executor: Executor, problems: list[Problem]
) -> None:
    """Problems of the files, in each other's light if both are there."""
    every = reading.golden.model_copy(update={"splits": None})
    plan = make_plan(reading.model_copy(update={"golden": every}), inputs)
    if inputs.units:
        steps = plan.needed(plan.resolved if inputs.golden_sha256 else plan.catalogue)
        problems += _computed(steps, root, executor)
    elif inputs.golden_sha256:
        golden, relevant = reading.golden, reading.metrics.relevant
        problems += load_questions(golden.path, golden.format, relevant=relevant)[1]
    if inputs.units and inputs.golden_sha256:
        problems += _unselected(reading.golden, plan, root)


def _computed(steps: Sequence[Step], root: str, executor: Executor) -> list[Problem]:
    done = [run_step(root, step, executor, Silent()) for step in steps]
    return [problem for one in done for problem in problems_of(root, one)]


def _unselected(golden: Golden, plan: Plan, root: str) -> list[Problem]:
    """A problem if `golden.splits` selects nothing of a golden set that has questions."""
    splits = [read(path, ["split"])["split"] for path in outputs.paths(root, plan.resolved.key)]
    found = [name for column in splits for name in column.to_pylist()]
    if golden.splits is None or not found:
        return []
    return registry.nothing_selected(golden, sum(name in golden.splits for name in found))


def _tried(do: Callable[[], T], path: str, problems: list[Problem]) -> T | None:
    """What `do` gives; what is wrong with the input becomes problems, of the configuration unless
    they say where they are."""
    try:
        return do()
    except DataError as error:
        problems += error.problems
    except InputError as error:
        said = str(error).removeprefix(f"{path}: ").split(f"\n{path}: ")
        problems += [Problem(path, None, None, "invalid_configuration", one) for one in said]
    return None
