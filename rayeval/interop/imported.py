"""What an importer gives: other tools' files in our own terms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa

from rayeval.errors import Problem
from rayeval.interop.records import Record


@dataclass(frozen=True)
class Imported:
    """Every part is null where the format has none of it.

    Rows are what a user would write by hand in JSON Lines, so they are checked where those are.
    """

    questions: Iterable[dict[str, Any]] | None = None
    """Rows of the golden contract (DESIGN §3)."""
    documents: Iterable[dict[str, Any]] | None = None
    """Rows with `source_id`, `text` and what else a document may have."""
    trace: Iterable[pa.Table] | None = None
    """Tables of schema FOREIGN; a question's rows stand together."""
    answers: Iterable[pa.Table] | None = None
    """Tables of schema ANSWERS."""
    verdicts: Iterable[pa.Table] | None = None
    """Tables of schema VERDICTS: what the tool's own judge said of the answers. Only `score` reads
    them."""
    systems: Mapping[str, Iterable[dict[str, Any]]] = field(default_factory=dict)
    """Where several systems answered the same questions: the rows of each one's trace, as a user
    would write them."""
    notes: Sequence[str] = ()
    """What the mapping decided, in words for the user (`grade 1 became relevance 3`)."""
    of_gold: Sequence[str] = ()
    """The same, of what matters only where its questions are the golden set."""
    relevant: int | None = None
    """From which relevance the format itself calls a document relevant, where that is not what
    `metrics.relevant` is if nobody says."""
    either: bool = False
    """The trace's `source_id` may be ids of chunks: the format has one kind of id."""
    made: bool = False
    """The trace's `question_id` are made of the questions' texts, for want of others."""
    places: Mapping[str, Record] = field(default_factory=dict)
    """question_id → where it stands; filled while `questions` are read."""
    problems: list[Problem] = field(default_factory=list)
    """What could not be mapped, by file, row and field; filled while the parts are read."""


class Importer(Protocol):
    """A module of this room; its docstring states the mapping."""

    NAME: str
    """As `--format` and `golden import` call it."""
    FILES: str
    """Which files it takes, in one line for `--help`."""

    def read(self, paths: Sequence[str]) -> Imported:
        """The files as the user listed them.

        Raises DataError for what can't be read at all.
        """
        ...
