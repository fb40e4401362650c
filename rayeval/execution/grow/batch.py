"""Grades given away from a terminal: a sheet to fill in, and the filled sheet taken in."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from rayeval import files
from rayeval.encoded import CARRIAGE, bare_returns
from rayeval.errors import DataError, InputError, Problem
from rayeval.execution.grow.session import Session
from rayeval.execution.grow.sharing import same
from rayeval.execution.grow.sources import Row
from rayeval.interop.whole import decoded
from rayeval.strict_json import loads

NEW = "new"
"""The group of a fact of its own; `new:NAME` is one that other hits may join."""
GRADES = ("0", "1", "2", "3")
SHEET = ("question_id", "chunk_id", "grade", "group", "question", "groups", "source_id", "place",
         "text")  # fmt: skip
"""Nothing of which run found a hit, nor at which rank: grading is blind."""


def write_sheet(session: Session, items: pl.DataFrame, path: str) -> None:
    """The items as CSV with empty columns `grade` and `group`, which `read_batch` takes back."""
    questions = session.golden.questions
    asked = dict(
        zip(questions["question_id"].to_pylist(), questions["question"].to_pylist(), strict=True)
    )
    sink = io.StringIO(newline="")
    writer = csv.DictWriter(sink, SHEET, extrasaction="ignore", lineterminator="\r\n")
    writer.writeheader()
    for item in items.iter_rows(named=True):
        name = item["question_id"]
        spans = item["spans"] or []
        place = ", ".join(f"{span['start_char']}-{span['end_char']}" for span in spans)
        groups = " | ".join(_group(*group) for group in session.groups(name).items())
        writer.writerow({**item, "question": asked[name], "groups": groups, "place": place})
    files.write_bytes(path, b"\xef\xbb\xbf" + sink.getvalue().encode())


def _group(group_id: str, evidence: list[Row]) -> str:
    quote = next((entry["quote"] for entry in evidence if entry["quote"]), None)
    text = " ".join((quote or evidence[0]["source_id"] or "").split())
    return f"{group_id}: {text[:80]}"


def apply_batch(session: Session, path: str) -> int:
    """Takes in every grade of a batch file; returns how many were there already.

    The file is CSV or JSON Lines with `question_id, chunk_id, grade, group`; a row without a grade
    is passed over.
    Raises DataError with everything that is wrong; nothing is written then.
    """
    problems: list[Problem] = []
    wanted: dict[tuple[str, str], tuple[Row, int, str | None]] = {}
    there = 0
    for line, row in _rows(path):
        name, chunk = row.get("question_id"), row.get("chunk_id")
        grade = str(row.get("grade") if row.get("grade") is not None else "").strip()
        if not grade:
            continue
        try:
            passage = _passage(session, name, chunk)
            if grade not in GRADES:
                raise InputError(f"grade {grade!r}: expected 0, 1, 2 or 3, or nothing to pass over")
            if _known(session, passage, int(grade)):
                there += 1
                continue
            asked = passage, int(grade), _chosen(session, passage, int(grade), row.get("group"))
            if wanted.setdefault((str(name), str(chunk)), asked) != asked:
                raise InputError("the hit is graded twice, and not the same; keep one row")
        except InputError as error:
            problems.append(Problem(path, line, name, "wrong_grade", str(error)))
    if problems:
        raise DataError(problems)
    for passage, value, group in wanted.values():
        session.grade(passage, value, group)
    return there


def _passage(session: Session, name: Any, chunk: Any) -> Row:
    """The hit that a row is of."""
    if name not in session.golden.rows:
        raise InputError(f"no question {name!r} in {session.golden.path}")
    if name not in session.judging:
        raise InputError(f"question {name!r} is not in the run {session.judging.run.run_id}")
    found = session.passage(name, chunk)
    if found is None:
        raise InputError(f"chunk_id {chunk!r} is no hit of this question in the run")
    if why := session.unfit(found):
        raise InputError(f"the hit {chunk} can't become evidence: it is known {why}")
    return found


def _known(session: Session, passage: Row, grade: int) -> bool:
    """Whether this very passage has that grade already.

    Raises InputError if it has another.
    """
    for entry in session.judging.evidence(passage["question_id"]):
        if same(passage, entry):
            if entry["relevance"] == grade:
                return True
            raise InputError(
                f"evidence {entry['evidence_id']!r} has graded this passage {entry['relevance']}; "
                "change it there, in the golden set"
            )
    return False


def _chosen(session: Session, passage: Row, grade: int, group: Any) -> str | None:
    """The group of a relevant hit; None: one of its own."""
    if grade < session.relevant:
        return None
    name = str(group or "").strip()
    known = session.groups(passage["question_id"])
    if name in known:
        return name
    if name == NEW:
        return None
    if name.startswith(f"{NEW}:") and name != f"{NEW}:":
        return name.removeprefix(f"{NEW}:")
    raise InputError(
        f"group {name!r} of a hit of grade {grade}: expected {NEW!r} for a fact of its own, or the "
        f"group that it is an alternative to ({', '.join(known) or 'there is none yet'})"
    )


def _rows(path: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """(line, row) of a batch file."""
    if not files.exists(path) or files.is_folder(path):
        raise InputError(f"no file of grades at {path}; --sheet writes one to fill in")
    text = decoded(files.read_bytes(path), path, None).removeprefix("\ufeff")
    if path.lower().endswith((".jsonl", ".ndjson")):
        yield from _json_rows(text, path)
        return
    reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
    lacking = [name for name in SHEET[:3] if name not in (reader.fieldnames or ())]
    if lacking:
        raise InputError(f"{path} has no column {', '.join(lacking)}; --sheet writes one with them")
    before = reader.line_num
    try:
        for row in reader:
            yield before + 1, row
            before = reader.line_num
    except csv.Error as error:
        raise InputError(f"{path}:{before + 1} is not CSV: {error}") from error


def _json_rows(text: str, path: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    for line, record in enumerate(text.split("\n"), start=1):
        if record.strip():
            try:
                row = loads(record)
            except ValueError as error:
                said = CARRIAGE if bare_returns(record.encode()) else error
                raise InputError(f"{path}:{line} is not JSON: {said}") from error
            if not isinstance(row, dict):
                raise InputError(f"{path}:{line} is not an object with question_id and chunk_id")
            yield line, row
