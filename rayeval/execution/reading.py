"""Documents and questions as they are read, and everything wrong with them at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pyarrow as pa

from rayeval import registry
from rayeval.corpus.config import Corpus, Parse
from rayeval.errors import DataError, InputError, Problem
from rayeval.execution import inputs as outputs
from rayeval.execution.config import RunConfig
from rayeval.execution.driver import run_step
from rayeval.execution.evaluate import find_corpus, golden_hash
from rayeval.execution.executor import Executor
from rayeval.execution.plan.plan import Inputs, Plan, make_plan
from rayeval.execution.problems import problems_of
from rayeval.execution.progress import Silent
from rayeval.execution.step import Step
from rayeval.execution.store import read
from rayeval.golden.config import Golden
from rayeval.golden.load import load_questions
from rayeval.marked import named_rows
from rayeval.metrics.config import Metrics
from rayeval.stage import StageConfig
from rayeval.tables import QUESTIONS

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


@dataclass
class Reading:
    """What was read of a configuration's golden set and corpus.

    config: the parts that reading needs, which are right; stand-ins for the rest.
    """

    root: str
    config: RunConfig
    inputs: Inputs
    problems: list[Problem] = field(default_factory=list)
    plan: Plan | None = None
    """None where there was nothing to read, or reading it failed."""
    loaded: pa.Table = field(default_factory=QUESTIONS.empty_table)
    """The questions where no corpus is there to locate them in."""

    @property
    def questions(self) -> pa.Table:
        """As evaluated (EVALUATED), by question_id; QUESTIONS where there is no corpus."""
        if self.plan is None or not (self.inputs.units and self.inputs.golden_sha256):
            return self.loaded
        return pa.concat_tables(self._output(self.plan.resolved))

    @property
    def catalogue(self) -> pa.Table | None:
        """Every document without its text; None where there is no corpus."""
        if self.plan is None or not self.inputs.units:
            return None
        return pa.concat_tables(self._output(self.plan.catalogue))

    def documents(self) -> Iterator[pa.Table]:
        """DOCUMENTS, partition by partition; none where there is no corpus."""
        return self._of_corpus("documents")

    def elements(self) -> Iterator[pa.Table]:
        """PARSED, partition by partition; none where there is no corpus."""
        return self._of_corpus("elements")

    def _of_corpus(self, name: str) -> Iterator[pa.Table]:
        if self.plan is None or not self.inputs.units:
            return iter(())
        return self._output(next(step for step in self.plan.steps if step.name == name))

    def _output(self, step: Step) -> Iterator[pa.Table]:
        paths = outputs.paths(self.root, step.key)
        return (named_rows(read(path), step.names) for path in paths)


def read_values(values: Mapping[str, Any], path: str, root: str, executor: Executor) -> Reading:
    """Reads every question, whatever `golden.splits` selects, and every document.

    values: a configuration's, of which only PARTS matter. path: its own, for messages.
    """
    parts = right_parts(values)
    problems: list[Problem] = []
    inputs = _inputs(parts, path, executor, problems)
    config = RunConfig.model_validate({**STAND_IN, **parts})
    reading = Reading(root, config, inputs, problems)
    tried(lambda: _read(reading, executor), path, problems)
    return reading


def right_parts(values: Mapping[str, Any]) -> dict[str, StageConfig]:
    """Those of PARTS that are given and right by themselves."""
    parts = {}
    for name in PARTS.keys() & values.keys():
        try:
            parts[name] = PARTS[name].model_validate(values[name])
        except ValueError:
            continue  # whoever checks the whole configuration says what is wrong with it
    return parts


def _inputs(
    parts: Mapping[str, Any], path: str, executor: Executor, problems: list[Problem]
) -> Inputs:
    """What is there to be read; nothing for what isn't."""
    corpus = golden = None
    if "corpus" in parts:
        corpus = tried(lambda: find_corpus(parts["corpus"], executor), path, problems)
        problems += registry.lost_links(parts["corpus"])
    if "golden" in parts:
        golden = tried(lambda: golden_hash(parts["golden"].path), path, problems)
    return Inputs(*(corpus or ((), ())), golden or "")


def _read(reading: Reading, executor: Executor) -> None:
    """Problems of the files, in each other's light if both are there."""
    config, inputs = reading.config, reading.inputs
    every = config.golden.model_copy(update={"splits": None})
    plan = make_plan(config.model_copy(update={"golden": every}), inputs)
    if inputs.units:
        steps = plan.needed(plan.resolved if inputs.golden_sha256 else plan.catalogue)
        done = [run_step(reading.root, step, executor, Silent()) for step in steps]
        reading.problems += [p for one in done for p in problems_of(reading.root, one)]
    elif inputs.golden_sha256:
        golden, relevant = config.golden, config.metrics.relevant
        reading.loaded, found = load_questions(golden.path, golden.format, relevant=relevant)
        reading.problems += found
    reading.plan = plan
    if inputs.units and inputs.golden_sha256:
        reading.problems += _unselected(config.golden, reading.questions["split"].to_pylist())


def _unselected(golden: Golden, found: Sequence[str | None]) -> list[Problem]:
    """A problem if `golden.splits` selects nothing of a golden set that has questions."""
    if golden.splits is None or not found:
        return []
    return registry.nothing_selected(golden, sum(name in golden.splits for name in found))


def tried(do: Callable[[], T], path: str, problems: list[Problem]) -> T | None:
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
