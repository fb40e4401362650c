"""A canonical text as an extractor lays it down, block by block, with its elements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rayeval.corpus.parse.element import Element, Headings, Names

_BETWEEN = "\n\n"
_UNMAPPED = re.compile(r"\(cid:\d+\)|[\ud800-\udfff]")
UNKNOWN = "\ufffd"


class Line(NamedTuple):
    """A row of a table, or an item of a list: its parts, and its page if that is known."""

    parts: Sequence[str]
    page: int | None


class Draft:
    """The text so far. Blocks are apart by an empty line, rows and items by a line end, cells by
    a tab; an element never has white space at its ends."""

    def __init__(self) -> None:
        self.title: str | None = None
        self.elements: list[Element] = []
        """In order of (start, -end)."""
        self._parts: list[str] = []
        self._length = 0
        self._names = Names()
        self._headings = Headings()

    @property
    def text(self) -> str:
        """All of it."""
        return "".join(self._parts)

    def block(self, kind: str, text: str, page: int | None, *, level: int | None = None) -> None:
        """A paragraph or heading; nothing where it has no text."""
        text = readable(text).strip()
        if text:
            path = self._headings.path if level is None else self._headings.enter(level, text)
            start = self._put(text, _BETWEEN)
            self._add(self._names.next(kind), kind, start, page, path, level=level)

    def items(self, items: Iterable[Line]) -> None:
        """A list, each item a line of one part."""
        shown = [(readable(parts[0]).strip(), page) for parts, page in items]
        shown = [(text, page) for text, page in shown if text]
        if not shown:
            return
        place, start = len(self.elements), self._next(_BETWEEN)
        for number, (text, page) in enumerate(shown):
            at = self._put(text, "\n" if number else _BETWEEN)
            self._add(self._names.next("item"), "item", at, page, self._headings.path)
        self._around(place, "list", start, shown[0][1])

    def table(self, rows: Sequence[Line]) -> None:
        """A table; empty rows and cells count, but are no elements."""
        shown = [Line([one_line(cell) for cell in row.parts], row.page) for row in rows]
        if not any(cell for row in shown for cell in row.parts):
            return
        place, start, name = len(self.elements), self._next(_BETWEEN), self._names.next("table")
        between = _BETWEEN
        for number, row in enumerate(shown, start=1):
            if any(row.parts):
                self._row(name, number, row, between)
                between = "\n"
        page = self.elements[place].page
        self._around(place, "table", start, page, name=name)

    def _row(self, table: str, number: int, row: Line, between: str) -> None:
        place, start = len(self.elements), self._next(between)
        last = 0
        for column, cell in enumerate(row.parts, start=1):
            if cell:
                at = self._put(cell, "\t" * (column - last) if last else between)
                name = self._names.cell(table, number, column)
                self._add(name, "cell", at, row.page, self._headings.path)
                last = column
        name = self._names.row(table, number)
        self._around(place, "row", start, row.page, name=name)

    def _next(self, between: str) -> int:
        """Where what comes after `between` begins."""
        return self._length + (len(between) if self._length else 0)

    def _put(self, text: str, between: str) -> int:
        """Lays `text` down; returns where it begins."""
        start = self._next(between)
        self._parts += [between if self._length else "", text]
        self._length = start + len(text)
        return start

    def _add(
        self,
        name: str,
        kind: str,
        start: int,
        page: int | None,
        path: tuple[str, ...],
        *,
        level: int | None = None,
    ) -> None:
        """An element from `start` to what was laid down last."""
        self.elements.append(Element(name, kind, start, self._length, path, level, page=page))

    def _around(
        self, place: int, kind: str, start: int, page: int | None, *, name: str | None = None
    ) -> None:
        """An element around those from number `place` on, before them."""
        self._add(name or self._names.next(kind), kind, start, page, self._headings.path)
        self.elements.insert(place, self.elements.pop())


def readable(text: str) -> str:
    """`text` with U+FFFD for what the file gives no character for."""
    return _UNMAPPED.sub(UNKNOWN, text)


def one_line(text: str) -> str:
    """A cell's text on one line."""
    return " ".join(readable(text).split())
