"""Everything wrong with a golden set and a corpus, gathered from the steps that found it."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pyarrow.compute as pc

from rayeval.errors import Problem
from rayeval.execution import inputs
from rayeval.execution.driver import Done
from rayeval.execution.store import read
from rayeval.marked import named_problems
from rayeval.words import plural

TO_FIRST_FAILURE = frozenset({"unknown_source", "unknown_revision"})
"""What `validate` calls a problem and `run` carries on to the INGESTION codes."""


def problems_of(root: str, done: Done) -> list[Problem]:
    """Problems of one finished step: of its files and, where it has the column, of its rows."""
    found = [problem for commit in done.commits for problem in commit.problems]
    if "unplaced" in done.step.schema.names:
        found += _unplaced(root, done)
    if "problems" in done.step.schema.names:
        for path in inputs.paths(root, done.step.key):
            table = read(path, ["question_id", "file", "line", "problems"])
            rows = table.filter(pc.greater(pc.list_value_length(table["problems"]), 0))
            for row in rows.to_pylist():
                place = (row["file"], row["line"], row["question_id"])
                found += [Problem(*place, **problem) for problem in row["problems"]]
    return named_problems(found, done.step.names)


def _unplaced(root: str, done: Done) -> list[Problem]:
    """One warning on all hits of a live arm that lie nowhere in the corpus."""
    names = ["question_id", "hits", "ambiguous", "lost", "unplaced"]
    tables = [read(path, names) for path in inputs.paths(root, done.step.key)]
    table = pa.concat_tables(tables)
    ambiguous, lost = (pc.sum(table[name]).as_py() or 0 for name in ("ambiguous", "lost"))
    if not ambiguous + lost:
        return []
    hits = pc.sum(pc.list_value_length(table["hits"])).as_py()
    first = table.filter(table["unplaced"].is_valid()).slice(0, 1).to_pylist()[0]
    message = (
        f"{ambiguous + lost} of {plural(hits, 'hit')} find no gold, since nobody knows where in "
        f"the corpus "
        f"they lie: {ambiguous} ambiguous, {lost} lost; first question {first['question_id']}, "
        f"{first['unplaced']}. Let hits name their source_id, and offsets or the source's own text"
    )
    return [Problem(done.step.name, None, None, "hits_not_located", message, warning=True)]


def blocking(problems: Iterable[Problem]) -> list[Problem]:
    """Those that end a run."""
    return [p for p in problems if not p.warning and p.kind not in TO_FIRST_FAILURE]
