"""`golden lint`: everything that `validate` reports, and what is doubtful beyond it."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
import pyarrow as pa

from rayeval.errors import Problem
from rayeval.execution.golden.sources import read_target
from rayeval.execution.job import Options
from rayeval.execution.reading import Reading
from rayeval.execution.validate import sorted_once
from rayeval.golden.anchors import anchors_path, note, read_anchors
from rayeval.golden.clusters import clusters
from rayeval.golden.lint.answers import Answers
from rayeval.golden.lint.changes import changed
from rayeval.golden.lint.duplicates import across_splits
from rayeval.golden.lint.leaks import Leaks
from rayeval.golden.lint.offsets import Offsets
from rayeval.golden.lint.repeats import contradictions, repeats
from rayeval.golden.lint.revisions import dead_revisions
from rayeval.golden.lint.sizes import WANTED, slice_sizes, too_few
from rayeval.golden.lint.synthetic import unmarked, unvalidated
from rayeval.golden.load import in_splits, load_questions


def lint(
    target: str,
    corpus: str | None = None,
    *,
    overrides: Sequence[str] = (),
    options: Options | None = None,
    detect: float = WANTED,
) -> list[Problem]:
    """Problems and warnings, by file and line.

    target: a YAML configuration, or a golden set, whose documents are then at `corpus`.
    detect: the difference that a slice ought to be able to show.
    """
    with read_target(target, corpus, overrides, options or Options()) as (problems, reading):
        found = list(problems)
        if reading is not None:
            found += doubts(reading, detect)
    return sorted_once(found)


def doubts(reading: Reading, detect: float) -> list[Problem]:
    """What is wrong beyond the contract and the documents."""
    questions, catalogue = reading.questions, reading.catalogue
    if not questions.num_rows:
        return []
    found = [*across_splits(questions), *unmarked(questions), *unvalidated(questions)]
    found += [*repeats(questions), *contradictions(questions)]
    relevant = reading.config.metrics.relevant
    counted = in_splits(questions, reading.config.golden.splits)
    found += too_few(_sizes(counted, reading), reading.config.golden.path, wanted=detect)
    watchers: list[Leaks | Answers | Offsets] = [Leaks(questions, relevant=relevant)]
    if catalogue is not None and "problems" in questions.column_names:
        found += dead_revisions(questions, catalogue, relevant=relevant)
        watchers += [Answers(questions, catalogue), Offsets(questions)]
        found += _changed(reading, questions)
    for documents in reading.documents():
        for watcher in watchers:
            watcher.see(documents)
    return found + [problem for watcher in watchers for problem in watcher.problems()]


def _sizes(questions: pa.Table, reading: Reading) -> pl.DataFrame:
    """Clusters are as evaluated where a corpus is there, else as far as the golden set tells."""
    evaluated = "problems" in questions.column_names
    drawn = pl.Series(pl.from_arrow(questions["cluster"])) if evaluated else clusters(questions)
    return slice_sizes(questions, drawn)


def _changed(reading: Reading, resolved: pa.Table) -> list[Problem]:
    """Evidence whose text is another than `golden anchor` noted, if it noted any."""
    golden = reading.config.golden
    notes = read_anchors(anchors_path(golden.path))
    if notes.is_empty():
        return []
    questions, _ = load_questions(golden.path, golden.format)
    return changed(resolved, notes, note(questions, resolved, reading.documents()))
