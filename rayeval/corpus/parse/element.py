"""What a parser finds, and how it is named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from rayeval.tables import ELEMENT

OURS = {"start_char": "start", "end_char": "end"}
"""Fields of tables.ELEMENT that are called otherwise here."""

Piece = tuple[int, int, int]
"""Source characters [start, end) that render as so many characters of the text."""


class Element(NamedTuple):
    """A part of a document, at [start, end) in its canonical text."""

    element_id: str
    kind: str
    start: int
    end: int
    heading_path: tuple[str, ...]
    level: int | None = None
    text: str | None = None
    """As a reader sees it; None where that is exactly the source."""
    pieces: list[Piece] | None = None
    """Given with `text`: where its characters come from, in order."""
    page: int | None = None
    """Counted from 1, where the format has pages."""

    def row(self) -> dict[str, Any]:
        """As in tables.ELEMENT."""
        return {theirs: getattr(self, OURS.get(theirs, theirs)) for theirs in ELEMENT.names}

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Element:
        """The inverse of `row`."""
        return cls(**{OURS.get(theirs, theirs): value for theirs, value in row.items()})


class Headings:
    """The headings above the place that a parser has reached."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []
        self.path: tuple[str, ...] = ()
        """Their texts, from the outermost inwards."""

    def enter(self, level: int, text: str) -> tuple[str, ...]:
        """A heading begins here. Returns the path above it."""
        above = [(n, words) for n, words in self._open if n < level]
        self._open = [*above, (level, " ".join(text.split()))]
        self.path = tuple(words for _, words in self._open)
        return self.path[:-1]


class Names:
    """`heading-2`, `table-1`, `table-1/row-2`, `table-1/r2c3`: counted in document order."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def next(self, kind: str) -> str:
        """The name of the next element of this kind."""
        self._counts[kind] += 1
        return f"{kind}-{self._counts[kind]}"

    @staticmethod
    def row(table: str, number: int) -> str:
        """The name of a table's row; the header row is the first."""
        return f"{table}/row-{number}"

    @staticmethod
    def cell(table: str, row: int, column: int) -> str:
        """The name of a table's cell, counted from 1."""
        return f"{table}/r{row}c{column}"
