"""DOCX by python-docx: paragraphs, headings and lists by their styles, tables cell by cell.

Text that is deleted in tracked changes is left out, inserted text is taken; text boxes follow the
paragraph that holds them. Headers, footers, notes and comments are no part of the text. Pages are
those that Word noted when it last laid the file out, else those that page breaks begin; without
either they are not known.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from typing import Any

from rayeval.corpus.extract.draft import Draft, Line
from rayeval.corpus.extract.styles import Role, roles
from rayeval.corpus.fields import Findings

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_BOX = f"{_W}txbxContent"
_TEXTS = frozenset({f"{_W}t", f"{_MATH}t"})
_SIGNS = {f"{_W}tab": "\t", f"{_W}ptab": "\t", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}
_BREAK, _LAID_OUT = f"{_W}br", f"{_W}lastRenderedPageBreak"
_SKIPPED = frozenset(
    {_FALLBACK, *(f"{_W}{name}" for name in ("pPr", "rPr", "del", "moveFrom", "instrText", "rt"))}
)
_WRAPPERS = frozenset(
    f"{_W}{name}" for name in ("sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo")
)
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_PAGE = "\f"
"""Stands for the begin of a page while a paragraph is read: XML can't hold it."""

Node = Any
"""An element of lxml's, which has no types."""


def read(data: bytes, found: Findings) -> Draft | None:
    """The document's body; a problem where it is encrypted, or no DOCX at all."""
    import docx
    from docx.opc.exceptions import OpcError
    from lxml.etree import LxmlError

    if data.startswith(_OLE):
        found.add(*_refused_ole(data))
        return None
    try:
        document = docx.Document(io.BytesIO(data))
        body = document.element.body
        draft = Draft()
        draft.title = document.core_properties.title.strip() or None
        _Reader(draft, body, roles(document.styles.element)).blocks(body)
    except (
        OpcError, LxmlError, zipfile.BadZipFile, AttributeError, LookupError, OSError,
        NotImplementedError, RuntimeError, TypeError, ValueError,
    ) as error:  # fmt: skip
        words = " ".join(str(error).split())[:200] or type(error).__name__
        said = f"can't be read as DOCX: {words}; save or fetch it again"
        found.add("damaged_document", said)
        return None
    if not draft.text:
        found.add("no_text", "there is no text in the body of the DOCX", warning=True)
    return draft


def _refused_ole(data: bytes) -> tuple[str, str]:
    """Word puts an encrypted document into the container of its old format."""
    if "EncryptedPackage".encode("utf-16-le") in data:
        said = "the DOCX is encrypted and opens with a password only; save it without one"
        return "encrypted_document", said
    return "damaged_document", "the file is a .doc of old Word, not a DOCX; save it as .docx"


class _Reader:
    """One pass over a body."""

    def __init__(self, draft: Draft, body: Node, styles: dict[str | None, Role]) -> None:
        self._draft = draft
        self._styles = styles
        self._rendered = next(body.iter(_LAID_OUT), None) is not None
        breaks = (_is_page_break(node) for node in body.iter(_BREAK, f"{_W}pageBreakBefore"))
        self._page = 1 if self._rendered or any(breaks) else None
        self._items: list[Line] = []
        self._boxes: list[Node] = []

    def blocks(self, container: Node) -> None:
        """Everything in a body, or in a text box."""
        for node in _children(container):
            if node.tag == f"{_W}p":
                self._paragraph(node)
            elif node.tag == f"{_W}tbl":
                self._end_list()
                self._draft.table([self._row(row) for row in _rows(node)])
            boxes, self._boxes = self._boxes, []
            for box in boxes:
                self._end_list()
                self.blocks(box)
        self._end_list()

    def _paragraph(self, node: Node) -> None:
        role = self._role(node)
        parts = self._parts(node)
        if role.level is not None:
            self._end_list()
            self._draft.block("heading", *_joined(parts), level=role.level)
        elif role.is_item:
            text, page = _joined(parts)
            self._items.append(Line([text], page))
        elif any(text.strip() for text, _ in parts):
            self._end_list()
            for text, page in parts:
                self._draft.block("paragraph", text, page)

    def _end_list(self) -> None:
        self._draft.items(self._items)
        self._items = []

    def _role(self, paragraph: Node) -> Role:
        """What a paragraph is, by its style and what it says itself."""
        style = paragraph.find(f"{_W}pPr/{_W}pStyle")
        named = None if style is None else style.get(f"{_W}val")
        inherited = self._styles.get(named) or self._styles[None]
        return inherited.changed(paragraph.find(f"{_W}pPr"))

    def _parts(self, paragraph: Node) -> list[tuple[str, int | None]]:
        """The paragraph's text page by page."""
        if not self._rendered and _is_set(paragraph.find(f"{_W}pPr/{_W}pageBreakBefore")):
            self._turn()
        first, *others = "".join(self._text(paragraph)).split(_PAGE)
        parts = [(first, self._page)]
        for text in others:
            self._turn()
            parts.append((text, self._page))
        return parts

    def _turn(self) -> None:
        """A page begins."""
        self._page = None if self._page is None else self._page + 1

    def _text(self, node: Node) -> Iterator[str]:
        for child in node:
            if child.tag in _TEXTS:
                yield child.text or ""
            elif child.tag in (_BREAK, _LAID_OUT):
                yield self._sign(child)
            elif child.tag in _SIGNS:
                yield _SIGNS[child.tag]
            elif child.tag == _BOX:
                self._boxes.append(child)
            elif child.tag not in _SKIPPED:
                yield from self._text(child)

    def _sign(self, node: Node) -> str:
        """A line's or a page's end; where Word noted its pages, those alone count."""
        if node.tag == _LAID_OUT:
            return _PAGE
        if not _is_page_break(node):
            return "\n"
        return "\n" if self._rendered else _PAGE

    def _row(self, row: Node) -> Line:
        """A cell over several columns leaves those after its first one empty."""
        cells: list[str] = []
        page = self._page
        for cell in _children(row):
            if cell.tag == f"{_W}tc":
                text, begun = self._cell(cell)
                page = begun if text and not any(cells) else page
                cells += [text, *[""] * (_span(cell) - 1)]
        return Line(cells, page)

    def _cell(self, cell: Node) -> tuple[str, int | None]:
        """A cell's paragraphs as one text; tables in it too."""
        parts: list[tuple[str, int | None]] = []
        for node in _children(cell):
            if node.tag == f"{_W}p":
                parts += self._parts(node)
            elif node.tag == f"{_W}tbl":
                lines = [self._row(row) for row in _rows(node)]
                parts += [(" ".join(line.parts), line.page) for line in lines]
        return _joined(parts)


def _joined(parts: list[tuple[str, int | None]]) -> tuple[str, int | None]:
    """Parts as one text, and the page of the first that has any."""
    filled = [(text.strip(), page) for text, page in parts if text.strip()]
    return " ".join(text for text, _ in filled), filled[0][1] if filled else None


def _children(node: Node) -> Iterator[Node]:
    """The parts of a body, table or row, those in content controls and insertions too."""
    for child in node:
        if child.tag in _WRAPPERS:
            yield from _children(child)
        else:
            yield child


def _rows(table: Node) -> Iterator[Node]:
    """A table's rows without those that are deleted in tracked changes."""
    for row in _children(table):
        if row.tag == f"{_W}tr" and row.find(f"{_W}trPr/{_W}del") is None:
            yield row


def _span(cell: Node) -> int:
    """How many columns a cell takes."""
    span = cell.find(f"{_W}tcPr/{_W}gridSpan")
    return 1 if span is None else min(max(1, int(span.get(f"{_W}val", "1"))), 63)


def _is_set(node: Node | None) -> bool:
    """Whether a switch is there and not switched off."""
    return node is not None and node.get(f"{_W}val", "true") not in ("0", "false", "off")


def _is_page_break(node: Node) -> bool:
    return _is_set(node) if node.tag != _BREAK else node.get(f"{_W}type") == "page"
