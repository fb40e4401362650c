"""Grades given away from a terminal, taken in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rayeval.errors import DataError, InputError, Problem
from rayeval.execution.grow.session import Session
from rayeval.execution.grow.sharing import same
from rayeval.execution.grow.sheet import meant, rows
from rayeval.execution.grow.sources import Row

NEW = "new"
"""The group of a fact of its own; `new:NAME` is one that other hits may join."""
GRADES = ("0", "1", "2", "3")
AGAINST = "; a file with hits of two runs needs --against with the other one"


class _UnfoundError(InputError):
    """No run has such a hit."""


def apply_batch(session: Session, path: str) -> int:
    """Takes in every grade of a batch file; returns how many were there already.

    The file is CSV or JSON Lines with `question_id, chunk_id, grade, group` and, of the columns of
    a sheet, those that say which passage is meant; a row without a grade is passed over.
    Raises DataError with everything that is wrong; nothing is written then.
    """
    problems: list[Problem] = []
    wanted: dict[tuple[str, int], tuple[Row, int, str | None]] = {}
    there, hint = 0, AGAINST if session.against is None else ""
    for line, row in rows(path):
        name = row.get("question_id")
        grade = str(row.get("grade") if row.get("grade") is not None else "").strip()
        if not grade:
            continue
        try:
            asked = _asked(session, row, grade)
            if asked is None:
                there += 1
            elif wanted.setdefault((str(name), asked[0]["passage"]), asked)[1:] != asked[1:]:
                raise InputError("the hit is graded twice, and not the same; keep one row")
        except _UnfoundError as error:
            problems.append(Problem(path, line, name, "wrong_grade", f"{error}{hint}"))
            hint = ""  # said once
        except InputError as error:
            problems.append(Problem(path, line, name, "wrong_grade", str(error)))
    if problems:
        raise DataError(problems)
    with session.together():
        for passage, value, group in wanted.values():
            session.grade(passage, value, group)
    return there


def _asked(
    session: Session, row: Mapping[str, Any], grade: str
) -> tuple[Row, int, str | None] | None:
    """The hit that a row is of, its grade and its group; None where it has that grade already."""
    passage = _passage(session, row)
    if grade not in GRADES:
        raise InputError(f"grade {grade!r}: expected 0, 1, 2 or 3, or nothing to pass over")
    if _known(session, passage, int(grade)):
        return None
    return passage, int(grade), _chosen(session, passage, int(grade), row.get("group"))


def _passage(session: Session, row: Mapping[str, Any]) -> Row:
    """The hit that a row is of."""
    name, chunk = row.get("question_id"), row.get("chunk_id")
    if name not in session.golden.rows:
        raise InputError(f"no question {name!r} in {session.golden.path}")
    if name not in session.judging:
        raise InputError(f"question {name!r} is not in the run {session.judging.run.run_id}")
    called = session.called(str(name), str(chunk))
    if not called:
        raise _UnfoundError(f"chunk_id {chunk!r} is no hit of this question in the run")
    found = meant(row, called)
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
