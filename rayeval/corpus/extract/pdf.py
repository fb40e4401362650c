"""PDF by pdfplumber: words in the order in which the page draws them, tables by their rules.

The order of drawing keeps columns apart, which the order of places would interleave. An element
lies on one page: a paragraph that goes on over a page's end is two. Nothing is called a heading,
since a PDF says only how large a text is.
"""

from __future__ import annotations

import io
import logging
import struct
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rayeval.corpus.extract.draft import UNKNOWN, Draft, Line, readable
from rayeval.corpus.fields import Findings
from rayeval.words import plural, verb

if TYPE_CHECKING:
    from pdfplumber.page import Page
    from pdfplumber.table import Table

Char = dict[str, Any]
Box = tuple[float, float, float, float]
_END = b"%%EOF"
_WORDS = {"use_text_flow": True, "x_tolerance_ratio": 0.15}
"""A gap of 0.15 of the type's size parts words; in a tight line a space is not much wider."""
_GAP, _MORE, _SIZE = 0.8, 1.5, 0.15
"""Lines are of one paragraph when their gap is under 0.8 of a line and 1.5 of the gap before, and
their heights differ by less than 15%."""


def read(data: bytes, found: Findings) -> Draft | None:
    """The pages; a problem where the PDF is encrypted or damaged, a warning if without text."""
    logging.getLogger("pdfminer").setLevel(logging.ERROR)
    draft = Draft()
    try:
        has_text = _read_pages(data, draft)
    except _damage() as error:
        found.add(*_refusal(error))
        return None
    if not has_text or _END not in data.rstrip(b"\0")[-2048:]:
        lacks = "its end (%%EOF): it was cut off" if has_text else "a page"
        found.add("damaged_document", f"the PDF lacks {lacks}; save or fetch it again")
        return None
    _warn(draft, has_text, found)
    return draft


def _read_pages(data: bytes, draft: Draft) -> list[bool]:
    """Lays every page down; which of them have text."""
    import pdfplumber

    has_text = []
    with pdfplumber.open(io.BytesIO(data)) as pdf:
        draft.title = _title(pdf.metadata)
        for page in pdf.pages:
            has_text.append(_read_page(page, draft))
            page.close()
    return has_text


def _damage() -> tuple[type[Exception], ...]:
    """What a damaged file raises: pdfminer meets it with whatever Python does."""
    from pdfminer.psexceptions import PSException
    from pdfplumber.utils.exceptions import MalformedPDFException, PdfminerException

    theirs = PdfminerException, MalformedPDFException, PSException, struct.error
    pythons = ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError
    return *theirs, *pythons, TypeError, ValueError


def _refusal(error: Exception) -> tuple[str, str]:
    from pdfminer.pdfdocument import PDFEncryptionError

    cause = error.args[0] if error.args and isinstance(error.args[0], Exception) else error
    if isinstance(cause, PDFEncryptionError):
        said = "the PDF is encrypted and opens with a password only; save it without one"
        return "encrypted_document", said
    words = " ".join(str(cause).split())[:200] or type(cause).__name__
    return "damaged_document", f"can't be read as PDF: {words}; save or fetch it again"


def _warn(draft: Draft, has_text: Sequence[bool], found: Findings) -> None:
    silent, count = [page for page, has in enumerate(has_text, 1) if not has], len(has_text)
    if silent:
        pages = ", ".join(map(str, silent[:5])) + (", …" if len(silent) > 5 else "")
        on = (
            f"in its {plural(count, 'page')}"
            if len(silent) == count
            else f"on page {pages} of {count}"
        )
        advice = "where it is scanned, recognise its text first (e.g. with ocrmypdf)"
        found.add("no_text", f"there is no text {on}; {advice}", warning=True)
    if unknown := draft.text.count(UNKNOWN):
        have, are = verb(unknown, "has", "have"), verb(unknown, "is", "are")
        fonts = f"{have} no Unicode in the PDF's fonts and {are}"
        said = f"{plural(unknown, 'character')} {fonts} read as U+FFFD"
        found.add("unreadable_characters", f"{said}; print it to a new PDF", warning=True)


def _title(metadata: dict[str, Any]) -> str | None:
    title = metadata.get("Title")
    return readable(title).strip("\0 \t\r\n") or None if isinstance(title, str) else None


def _read_page(page: Page, draft: Draft) -> bool:
    """Lays the page down, each table where its first character is drawn; whether it has text."""
    chars = page.chars
    tables = [table for table in page.find_tables() if len(table.cells) > 1]
    owner, cell = _owners(chars, tables)
    at = {int(number): int(first) for number, first in zip(*np.unique(owner, True), strict=True)}
    begins = sorted((first, number) for number, first in at.items() if number >= 0)
    before = len(draft.elements)
    edges = [0, *(first for first, _ in begins), len(chars)]
    for (start, end), (_, number) in zip(pairwise(edges), [*begins, (0, -1)], strict=True):
        free = [chars[i] for i in range(start, end) if owner[i] < 0]
        for paragraph in _paragraphs(_lines(free)):
            draft.block("paragraph", "\n".join(line.text for line in paragraph), page.page_number)
        if number >= 0:
            inside = np.flatnonzero(owner == number)
            texts = _cells([chars[i] for i in inside], cell[inside])
            rows = [[texts.get(c, "") for c in row] for row in _grid(tables[number])]
            draft.table([Line(row, page.page_number) for row in rows])
    return len(draft.elements) > before


def _owners(chars: Sequence[Char], tables: Sequence[Table]) -> tuple[Any, Any]:
    """(n_chars,) each: the table whose cell holds the character's middle, else -1; the cell."""
    box = np.array([[c["x0"], c["x1"], c["top"], c["bottom"]] for c in chars]).reshape(-1, 4)
    x, y = box[:, :2].mean(axis=1), box[:, 2:].mean(axis=1)
    owner, cell = np.full(len(chars), -1), np.full(len(chars), -1)
    for number, table in enumerate(tables):
        for place, (x0, top, x1, bottom) in enumerate(table.cells):
            inside = (owner < 0) & (x >= x0) & (x < x1) & (y >= top) & (y < bottom)
            owner[inside], cell[inside] = number, place
    return owner, cell


def _grid(table: Table) -> list[list[int]]:
    """Every row's cells by their numbers, -1 where a wider or higher cell reaches over."""
    numbers = {box: number for number, box in enumerate(table.cells)}
    return [[numbers[box] if box else -1 for box in row.cells] for row in table.rows]


def _cells(chars: Sequence[Char], cell: Any) -> dict[int, str]:
    """The text of each cell that has some."""
    texts = {}
    for number in np.unique(cell).tolist():
        lines = _lines([char for char, own in zip(chars, cell, strict=True) if own == number])
        texts[number] = " ".join(line.text for line in lines)
    return texts


class _TextLine(NamedTuple):
    text: str
    top: float
    bottom: float

    @property
    def height(self) -> float:
        return self.bottom - self.top


def _lines(chars: list[Char]) -> list[_TextLine]:
    """Words drawn one after the other, on one height and onwards to the right, are a line."""
    from pdfplumber.utils import extract_words

    lines: list[list[Char]] = []
    for word in extract_words(chars, **_WORDS):
        last = lines[-1][-1] if lines else None
        middle = (word["top"] + word["bottom"]) / 2
        if last and last["top"] <= middle <= last["bottom"] and word["x0"] >= last["x1"] - 1:
            lines[-1].append(word)
        else:
            lines.append([word])
    return [
        _TextLine(
            " ".join(word["text"] for word in line),
            min(word["top"] for word in line),
            max(word["bottom"] for word in line),
        )
        for line in lines
    ]


def _paragraphs(lines: Sequence[_TextLine]) -> Iterator[list[_TextLine]]:
    """Runs of lines that stand close below each other."""
    paragraph: list[_TextLine] = []
    usual = float("inf")
    for line in lines:
        if paragraph:
            last = paragraph[-1]
            gap = line.top - last.bottom
            near = -last.height / 2 < gap < min(_GAP * last.height, usual)
            alike = abs(line.height - last.height) < _SIZE * last.height
            if near and alike:
                usual = max(_MORE * gap, 1)
            else:
                yield paragraph
                paragraph, usual = [], float("inf")
        paragraph.append(line)
    if paragraph:
        yield paragraph
