"""Small PDFs and DOCX files, made here."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

import docx
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from reportlab.lib import colors, pdfencrypt
from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Table

from rayeval.corpus.extract import extract
from rayeval.corpus.extract.draft import Draft
from rayeval.corpus.fields import Findings

KOREAN = "HYSMyeongJo-Medium"
LEFT, TOP, LEADING = 72, 770, 14


def pdf(*pages: Callable[[Canvas], None], title: str = "", **options: object) -> bytes:
    """A PDF with a page for each function, which draws it; the same bytes each time."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4, invariant=True, **options)
    canvas.setTitle(title)
    for draw in pages:
        draw(canvas)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def text(*paragraphs: Sequence[str], x: int = LEFT, font: str = "Helvetica") -> Callable[..., None]:
    """Draws paragraphs, each of some lines."""

    def draw(canvas: Canvas) -> None:
        if font == KOREAN:
            pdfmetrics.registerFont(UnicodeCIDFont(font))
        canvas.setFont(font, 11)
        y = TOP
        for lines in paragraphs:
            for line in lines:
                canvas.drawString(x, y, line)
                y -= LEADING
            y -= 2 * LEADING

    return draw


def table(
    rows: Sequence[Sequence[str]], *, y: int = 500, style: Sequence[tuple] = ()
) -> Callable[..., None]:
    """Draws a ruled table."""

    def draw(canvas: Canvas) -> None:
        drawn = Table(rows, style=[("GRID", (0, 0), (-1, -1), 0.5, colors.black), *style])
        drawn.wrapOn(canvas, 400, 400)
        drawn.drawOn(canvas, LEFT, y)

    return draw


def both(*draws: Callable[[Canvas], None]) -> Callable[[Canvas], None]:
    """One page of several drawings."""

    def draw(canvas: Canvas) -> None:
        for part in draws:
            part(canvas)

    return draw


def locked(password: str) -> bytes:
    """A PDF that opens with this password; with an empty one it may not be printed, but read."""
    guard = pdfencrypt.StandardEncryption(password, ownerPassword="owner", canPrint=0)
    return pdf(text(["Secret text."]), encrypt=guard)


def word(fill: Callable[[docx.document.Document], None]) -> bytes:
    """A DOCX that `fill` has written into."""
    document = docx.Document()
    fill(document)
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def laid_out(run: docx.text.run.Run) -> None:
    """Notes, as Word does, that a page begins with this run."""
    run._r.insert(0, OxmlElement("w:lastRenderedPageBreak"))


def wrapped(paragraph: docx.text.paragraph.Paragraph, name: str) -> None:
    """Puts a paragraph's runs into an element such as w:ins or w:del."""
    wrapper = OxmlElement(name)
    wrapper.set(qn("w:id"), "1")
    for run in list(paragraph._p.findall(qn("w:r"))):
        wrapper.append(run)
    paragraph._p.append(wrapper)


def read(format_: str, data: bytes) -> tuple[Draft | None, list[tuple[str, bool]]]:
    """What the extractor gives, and (kind, warning) of its problems."""
    found = Findings(f"a.{format_}")
    draft = extract(format_, data, found)
    return draft, [(problem.kind, problem.warning) for problem in found.problems]


def shown(draft: Draft) -> list[tuple]:
    """(element_id, page, text) of every element."""
    return [(e.element_id, e.page, draft.text[e.start : e.end]) for e in draft.elements]
