"""CommonMark with tables: elements at exact places of the source.

markdown-it gives lines; they are turned into offsets of the text as it is stored (it works on a
copy with LF for CRLF and U+FFFD for NUL). Link reference definitions are read as paragraphs, so
that no text is outside every element. Headings, paragraphs and quotes inside a quote or a list
are part of it; items, tables and code are elements wherever they stand.
"""

from __future__ import annotations

import re
from itertools import zip_longest

from markdown_it import MarkdownIt
from markdown_it.token import Token

from rayeval.corpus.parse.element import Element, Headings, Names
from rayeval.corpus.parse.lines import Lines

_KINDS = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "list_item_open": "item",
    "table_open": "table",
    "fence": "code",
    "code_block": "code",
    "blockquote_open": "quote",
    "html_block": "html",
    "hr": "rule",
}
_ANYWHERE = frozenset({"item", "table", "code"})
_CONTAINERS = frozenset({"bullet_list", "ordered_list", "blockquote"})
# Past this depth markdown-it stops looking: what is nested deeper is part of the block around it.
_MAX_NESTING = 100
_PREFIX = re.compile(r"(?:[ \t>]|(?:[-+*]|\d{1,9}[.)])(?=[ \t]))*")
_PIPE = re.compile(r"(?<!\\)\|")
# What markdown-it trims from a cell: Unicode's white space without the control characters.
_WHITE = "".join(
    c for c in map(chr, range(0x3001)) if c.isspace() and c not in "\x1c\x1d\x1e\x1f\x85"
)

_MD = (
    MarkdownIt("commonmark", {"maxNesting": _MAX_NESTING})
    .enable("table")
    .disable(["reference", "inline", "text_join"])
)


def elements(text: str, start: int) -> list[Element]:
    """The elements of Markdown `text` from character `start` on, in order of (start, -end).

    A block goes from the start of its first line to the end of its last, line end excluded; a
    cell is its trimmed text. Offsets count in all of `text`.
    """
    tokens = _MD.parse(text[start:])
    walk = _Walk(Lines.of(text[start:]), start)
    for token, following in zip_longest(tokens, tokens[1:]):
        walk.visit(token, following)
    return sorted(walk.found, key=lambda element: (element.start, -element.end))


class _Walk:
    """One pass over the tokens of a document."""

    def __init__(self, lines: Lines, offset: int) -> None:
        self.found: list[Element] = []
        self._lines = lines
        self._offset = offset
        self._names = Names()
        self._headings = Headings()
        self._inside = 0
        self._table = ""
        self._row = self._column = 0
        self._cells: list[tuple[int, int]] = []

    def visit(self, token: Token, following: Token | None) -> None:
        """Notes what begins with `token`; `following` has a heading's text."""
        kind = _KINDS.get(token.type)
        if token.type in ("th_open", "td_open"):
            self._cell()
        elif token.type == "tr_open" and token.map:
            self._begin_row(token.map[0])
        elif kind and token.map and (kind in _ANYWHERE or not self._inside):
            self._block(kind, token, following)
        if token.type.rpartition("_")[0] in _CONTAINERS:
            self._inside += token.nesting

    def _block(self, kind: str, token: Token, following: Token | None) -> None:
        name = self._names.next(kind)
        level, path = None, self._headings.path
        if kind == "heading":
            level = int(token.tag.removeprefix("h"))
            path = self._headings.enter(level, following.content if following else "")
        elif kind == "table":
            self._table, self._row = name, 0
        first, stop = token.map or (0, 0)
        self._add(name, kind, self._lines.span(first, stop), path, level)

    def _begin_row(self, line: int) -> None:
        self._row += 1
        self._column = 0
        begin, end = self._lines.span(line, line + 1)
        name = self._names.row(self._table, self._row)
        self._add(name, "row", (begin, end), self._headings.path)
        cells = _cells(self._lines.text[begin:end], nested=self._inside > 0)
        self._cells = [(begin + left, begin + right) for left, right in cells]

    def _cell(self) -> None:
        """An empty cell, or one that the row lacks, counts but is no element."""
        self._column += 1
        if self._column <= len(self._cells):
            begin, end = self._cells[self._column - 1]
            if begin < end:
                name = self._names.cell(self._table, self._row, self._column)
                self._add(name, "cell", (begin, end), self._headings.path)

    def _add(
        self,
        name: str,
        kind: str,
        span: tuple[int, int],
        path: tuple[str, ...],
        level: int | None = None,
    ) -> None:
        begin, end = span
        self.found.append(
            Element(name, kind, self._offset + begin, self._offset + end, path, level)
        )


def _cells(line: str, *, nested: bool) -> list[tuple[int, int]]:
    """Where the trimmed cells of a table's line lie; the marks of quotes and lists are skipped."""
    prefix = _PREFIX.match(line) if nested else None
    begin = prefix.end() if prefix else 0
    edges = [
        begin,
        *(end for pipe in _PIPE.finditer(line, begin) for end in pipe.span()),
        len(line),
    ]
    cells = [
        _trimmed(line, left, right) for left, right in zip(edges[::2], edges[1::2], strict=True)
    ]
    white = [left == right for left, right in cells]
    return cells[white[0] : len(cells) - white[-1]]


def _trimmed(line: str, begin: int, end: int) -> tuple[int, int]:
    text = line[begin:end]
    begin += len(text) - len(text.lstrip(_WHITE))
    return begin, begin + len(text.strip(_WHITE))
