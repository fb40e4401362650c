"""Other tools' files turned into ours, held against the golden contract before they are there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from rayeval.errors import Problem
from rayeval.golden.load import load_questions
from rayeval.interop.grades import flag
from rayeval.interop.imported import Importer
from rayeval.interop.out.ours import write_imported
from rayeval.interop.records import Record


def import_golden(
    importer: Importer, paths: Sequence[str], out: str
) -> tuple[dict[str, int], list[str]]:
    """Writes what the files hold into the folder `out`; returns the rows of each file, and notes.

    Raises DataError, and writes nothing, where a row can't be mapped or would be refused as a
    question; ConfigError where such files are there already.
    """
    imported = importer.read(paths)
    written = write_imported(imported, out, checked(paths))
    needed = [] if imported.relevant is None else [flag(imported.relevant)]
    return written, [*needed, *imported.of_gold, *imported.notes]


def checked(paths: Sequence[str]) -> Callable[[str, Mapping[str, Record]], list[Problem]]:
    """What is wrong with a golden set that was made of the files `paths`, said of those."""

    def check(golden: str, places: Mapping[str, Record]) -> list[Problem]:
        _, problems = load_questions(golden, "jsonl")
        return [_placed(problem, places, paths[0]) for problem in problems if not problem.warning]

    return check


def _placed(problem: Problem, places: Mapping[str, Record], first: str) -> Problem:
    """The problem at its question's place; of a table of judgements, which has none, by its id."""
    place = places.get(problem.question_id or "")
    if place is None:
        return replace(problem, file=first, line=None)
    message = f"{place.item}{problem.message}"
    return replace(problem, file=place.file, line=place.line, message=message)
