"""Evidence of a new question, located in a corpus at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rayeval.corpus.config import Corpus
from rayeval.errors import DataError, InfrastructureError, Problem
from rayeval.execution import inputs
from rayeval.execution.config import RunConfig
from rayeval.execution.driver import run_step
from rayeval.execution.evaluate import executor_of, find_corpus
from rayeval.execution.executor import Executor
from rayeval.execution.job import Options
from rayeval.execution.plan.plan import Inputs, make_plan
from rayeval.execution.problems import problems_of
from rayeval.execution.progress import Silent
from rayeval.execution.reading import STAND_IN
from rayeval.execution.store import read
from rayeval.golden.revisions import choose_revisions

AROUND = 120
"""Characters of a source that are shown on either side of a place."""


@dataclass(frozen=True)
class Place:
    """Where evidence stands, and what stands around it."""

    evidence_id: str
    source_id: str
    revision_id: str
    start_char: int
    end_char: int
    before: str
    text: str
    after: str
    rendered: bool
    """The source's text is not what readers see."""
    page: int | None
    """On which it begins, where the document has pages."""


class OpenCorpus:
    """A corpus that is read and parsed, ready to be asked."""

    def __init__(self, executor: Executor, root: str, config: Corpus) -> None:
        stand_in = RunConfig.model_validate({**STAND_IN, "corpus": config.model_dump()})
        plan = make_plan(stand_in, Inputs(*find_corpus(config, executor), ""))
        self._steps = {step.name: step for step in plan.steps}
        self._root, self._executor = root, executor
        for name in ("documents", "catalogue", "elements"):
            done = run_step(root, self._steps[name], executor, Silent())
            if wrong := [p for p in problems_of(root, done) if not p.warning]:
                raise DataError(wrong)
        self._catalogue = read(inputs.paths(root, self._steps["catalogue"].key)[0])

    def locate(self, questions: pa.Table) -> tuple[list[Place], list[Problem]]:
        """Every place of the evidence of `questions` (tables.QUESTIONS), and what is wrong."""
        questions = choose_revisions(questions, self._catalogue)
        spots = self._answer("located", questions)["spots"]
        rows = self._answer("resolved", questions.append_column("spots", spots)).to_pylist()
        problems = [
            Problem(row["file"], row["line"], row["question_id"], **problem)
            for row in rows
            for problem in row["problems"]
        ]
        found = [item for row in rows for item in row["evidence"] if item["spans"]]
        return list(self._places(found)), problems

    def _answer(self, step: str, batch: pa.Table) -> pa.Table:
        table = self._executor.serve(self._steps[step])(batch)
        if table["error"].null_count < table.num_rows:
            failed = table["error"].drop_null()[0].as_py()
            raise InfrastructureError(f"evidence can't be located: {failed}")
        return table

    def _places(self, evidence: Sequence[Mapping[str, Any]]) -> Iterator[Place]:
        sources = pa.array({item["source_id"] for item in evidence}, pa.large_string())
        documents = self._documents(sources)
        for item in evidence:
            text, rendered = documents[item["source_id"], item["revision_id"]]
            start, end = item["spans"][0]["start_char"], item["spans"][-1]["end_char"]
            yield Place(
                evidence_id=item["evidence_id"],
                source_id=item["source_id"],
                revision_id=item["revision_id"],
                start_char=start,
                end_char=end,
                before=text[max(0, start - AROUND) : start],
                text=text[start:end],
                after=text[end : end + AROUND],
                rendered=rendered,
                page=item["page"],
            )

    def _documents(self, sources: pa.Array) -> dict[tuple[str, str], tuple[str, bool]]:
        """(source, revision) → (text, rendered) of these sources."""
        found = {}
        for path in inputs.paths(self._root, self._steps["documents"].key):
            table = read(path, ["source_id", "revision_id", "format", "text"])
            for row in table.filter(pc.is_in(table["source_id"], value_set=sources)).to_pylist():
                key = row["source_id"], row["revision_id"]
                found[key] = row["text"], row["format"] == "html"
        return found


@contextmanager
def open_corpus(path: str, options: Options) -> Iterator[OpenCorpus]:
    """The corpus at `path`; what was parsed before comes from the store.

    Raises DataError with the problems of its documents.
    """
    config = Corpus(path=path)
    stand_in = RunConfig.model_validate(STAND_IN)
    with executor_of(stand_in, options) as executor:
        yield OpenCorpus(executor, options.root, config)
