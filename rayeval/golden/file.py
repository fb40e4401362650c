"""A golden set as it lies on disk: read whole, changed a row at a time."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from rayeval import files
from rayeval.errors import DataError, Problem
from rayeval.golden import rewrite
from rayeval.golden.config import Format
from rayeval.golden.ids import id_of
from rayeval.golden.ledger import carry
from rayeval.golden.load import load_questions
from rayeval.golden.problems import Report
from rayeval.golden.records import format_of, records
from rayeval.golden.rows import question_row
from rayeval.tables import QUESTIONS


@dataclass(frozen=True)
class GoldenFile:
    """One state of a golden set's file."""

    path: str
    kind: Format
    questions: pa.Table
    """tables.QUESTIONS, by question_id, as they were read."""
    rows: Mapping[str, tuple[int, dict[str, Any]]]
    """question_id → (line, row as the user wrote it)."""
    relevant: int = 2

    def append(self, row: Mapping[str, Any]) -> None:
        """Writes the file with one row more.

        Raises DataError if another process has added a question of this id since it was read.
        """
        with files.locked(self.path):
            data = files.read_bytes(self.path) if files.exists(self.path) else b""
            name = id_of(dict(row))
            there = _rows(self.path, self.kind).get(str(name)) if data else None
            if there is not None:
                raise _changed(self.path, there[0], name, "was added since the file was read")
            _write(self.path, rewrite.appended(data, self.kind, row))

    def evidence(self, question_id: str, row: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The evidence of a row that this question may have, as tables.EVIDENCE.

        Raises DataError with all that is wrong with the row.
        """
        line, _ = self.rows[question_id]
        report = Report(self.path)
        found = question_row(dict(row), line, report, relevant=self.relevant)
        wrong = [problem for problem in report.problems if not problem.warning]
        if wrong or found is None:
            raise DataError(wrong)
        evidence: list[dict[str, Any]] = found["evidence"]
        return evidence

    def replace(self, new: Mapping[str, Mapping[str, Any]]) -> GoldenFile:
        """Writes the file with the rows of these questions changed; returns it as it then is.

        Rows that another process has changed meanwhile stay as it wrote them.
        Raises DataError if it has changed one of these, or moved it; nothing is written then.
        """
        with files.locked(self.path):
            rows = _rows(self.path, self.kind)
            for name in new:
                self._check_unchanged(name, *rows.get(name, (None, {})))
            data, lines = files.read_bytes(self.path), {rows[n][0]: new[n] for n in new}
            _write(self.path, rewrite.replaced(data, self.kind, lines))
            if self.kind == "jsonl":
                rows |= {name: (rows[name][0], dict(row)) for name, row in new.items()}
            else:  # lines below move when a cell goes, and columns give their rows other fields
                rows = _rows(self.path, self.kind)
        return replace(self, rows=rows)

    def _check_unchanged(self, name: str, now: int | None, there: Mapping[str, Any]) -> None:
        """Raises DataError unless a question stands where it was read, as it was read."""
        line, known = self.rows[name]
        if now is None:
            raise _changed(self.path, line, name, "is no longer in the file")
        if now != line:
            raise _changed(self.path, line, name, f"stands on line {now} by now")
        if _said(there) != _said(known):
            raise _changed(self.path, line, name, "is another one by now")


def read_golden(path: str, *, relevant: int = 2, new: bool = False) -> GoldenFile:
    """The golden set at `path`.

    relevant: evidence of this relevance or more is gold.
    new: a file that isn't there, or is empty, is one without questions.
    Raises DataError with every problem of it, ConfigError if the format is unknown.
    """
    kind = format_of(path)
    if new and not (files.exists(path) and files.read_bytes(path).strip()):
        return GoldenFile(path, kind, QUESTIONS.empty_table(), {}, relevant)
    questions, problems = load_questions(path, kind, relevant=relevant)
    if wrong := [problem for problem in problems if not problem.warning]:
        raise DataError(wrong)
    return GoldenFile(path, kind, questions, _rows(path, kind), relevant)


def _rows(path: str, kind: Format) -> dict[str, tuple[int, dict[str, Any]]]:
    found = records(path, kind, Report(path))
    return {name: (line, row) for line, row in found if (name := id_of(row)) is not None}


def put(golden: str, out: str, data: bytes, *, was: bytes) -> None:
    """Writes what the golden set, read as `was`, became; its ledger goes along.

    Raises DataError if another process has changed it since, so that what it wrote would be lost.
    """
    with files.locked(out):
        if files.read_bytes(golden) != was:
            raise _changed(golden, None, None, "are others by now", what="its questions")
        carry(golden, out)
        _write(out, data)


def _said(value: Any) -> Any:
    """Without nulls, which say nothing: a column that another row needs gives all rows one."""
    if isinstance(value, dict):
        return {key: _said(item) for key, item in value.items() if item is not None}
    return [_said(item) for item in value] if isinstance(value, list) else value


def _changed(
    path: str, line: int | None, question_id: str | None, how: str, what: str = "the question"
) -> DataError:
    said = f"{what} {how}: the file was changed since it was read, by another process. Nothing "
    said += "was written; begin again"
    return DataError([Problem(path, line, question_id, "changed_file", said)])


def _write(path: str, data: bytes) -> None:
    """At once or not at all; a link stays a link."""
    files.write_bytes(path if files.is_uri(path) else os.path.realpath(path), data)
