"""Problems, collected as a golden set is read, and the words they are put in."""

from __future__ import annotations

import difflib
import reprlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from rayeval.errors import Problem

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80
_SHORT.maxlevel = 3


class FaultError(ValueError):
    """What makes a value or a piece of evidence unusable; `kind` is the problem's."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        super().__init__(message)


@dataclass
class Report:
    """All problems of one file."""

    file: str
    problems: list[Problem] = field(default_factory=list)

    def at(self, line: int | None, question_id: str | None = None) -> Record:
        """The record that the next problems are of."""
        return Record(self, line, question_id)


@dataclass
class Record:
    """One record of a file."""

    report: Report
    line: int | None
    question_id: str | None

    def problem(self, kind: str, message: str, *, warning: bool = False) -> None:
        """Adds what is wrong here, in words that any terminal can print."""
        safe = message.encode(errors="backslashreplace").decode()
        found = Problem(self.report.file, self.line, self.question_id, kind, safe, warning)
        self.report.problems.append(found)


def shown(value: Any) -> str:
    """`value` for a message: short and on one line, however long or deep it is."""
    return _SHORT.repr(value)


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint to the known name that `name` is most like, or nothing."""
    close = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""


def path_of(parts: Iterable[str | int]) -> str:
    """A field's place in a record, e.g. `evidence[1].relevance`."""
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
