"""Where one piece of evidence stands in one document, or why it stands nowhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rayeval.golden.anchor import Place
from rayeval.golden.document import Document
from rayeval.golden.problems import FaultError, nearest, shown
from rayeval.golden.units import UNITS, Counted
from rayeval.words import plural


def located(document: Document, evidence: Mapping[str, Any]) -> list[Place]:
    """The spans of evidence that names this document: by offsets, element, quote, page, or all.

    evidence: as in tables.EVIDENCE. A page says nothing where the document has none.
    Raises FaultError of the problem's kind if the document contradicts it.
    """
    page = evidence["page"] if document.last_page else None
    if page is not None and document.page(page) is None:
        what = f"no text on page {page}; the last page with text is {document.last_page}"
        raise FaultError("unknown_page", what)
    spans = _stated(document, evidence, page)
    if page is not None:
        _on_page(document, spans, page)
    return spans


def _stated(document: Document, evidence: Mapping[str, Any], page: int | None) -> list[Place]:
    quote = evidence["quote"]
    if evidence["spans"] is not None:
        spans = [(span["start_char"], span["end_char"]) for span in evidence["spans"]]
        return _by_offsets(document, spans, quote)
    if evidence["element_id"] is not None:
        parts = [evidence["element_id"], evidence["cell"]]
        return [_by_element(document, "/".join(filter(None, parts)), quote)]
    if quote is not None:
        return [_by_quote(document, quote, page)]
    if page is not None:
        return [place] if (place := document.page(page)) else []
    start, end = document.content
    if start == end:
        raise FaultError("empty_source", "the source has no text, so nothing of it can be found")
    return [document.content]


def _by_offsets(document: Document, spans: list[Place], quote: str | None) -> list[Place]:
    size = len(document.text)
    if spans[-1][1] > size:
        where = f"{_listed(spans)} lies outside the text, which has {plural(size, 'character')}"
        raise _misplaced("offset_outside_text", where, document, spans, quote)
    if quote is not None and not _says(document.text, spans, quote):
        there = " … ".join(document.text[start:end] for start, end in spans)
        what = f"at {_listed(spans)} stands {shown(there)}, not the quote {shown(quote)}"
        raise _misplaced("quote_mismatch", what, document, spans, quote)
    return spans


def _says(text: str, spans: Sequence[Place], quote: str) -> bool:
    """Whether the spans' text is exactly the quote, which may part them by a space or a line."""
    parts = [text[start:end] for start, end in spans]
    return quote in ("".join(parts), " ".join(parts), "\n".join(parts))


def _misplaced(
    kind: str, what: str, document: Document, spans: Sequence[Place], quote: str | None
) -> FaultError:
    """What is wrong with offsets, and what may be meant by them.

    Where the quote stands at several places, that is what is wrong: nobody can say which is meant.
    """
    for unit in UNITS:
        meant = Counted(document.text, unit).code_points(spans)
        if meant and (quote is None or _says(document.text, meant, quote)):
            fits = f"; the numbers fit as {unit}, which are the code points {_listed(meant)}"
            return FaultError(kind, f"{what}{fits}: convert them")
    if quote is None:
        return FaultError(kind, f"{what}; offsets are code points of the whole file's text")
    places, _ = document.find(quote)
    if len(places) > 1:
        said = f"{what}; the quote stands at {_listed(places)}; {_how_to_choose(document, places)}"
        return FaultError("quote_ambiguous", said)
    where = f"at {_listed(places)}" if places else "nowhere in the text"
    return FaultError(kind, f"{what}; the quote stands {where}")


def _by_element(document: Document, element_id: str, quote: str | None) -> Place:
    place = document.element(element_id)
    if place is None:
        ids = document.element_ids
        hint = nearest(element_id, ids) or f"; it has {', '.join(ids[:5]) or 'no elements'}"
        raise FaultError("unknown_element", f"no element {element_id!r} in the document{hint}")
    if quote is not None:
        start, end = place
        if not any(start <= s and e <= end for s, e in document.find(quote)[0]):
            there = shown(document.text[start:end])
            what = f"{element_id!r} is {there}, which does not hold the quote {shown(quote)}"
            raise FaultError("quote_mismatch", what)
    return place


def _by_quote(document: Document, quote: str, page: int | None) -> Place:
    """The quote's one place, of which `page` chooses."""
    places, _ = document.find(quote)
    if page is not None:
        places = [place for place in places if page in document.pages(*place)] or places
    if not places:
        what = f"the quote {shown(quote)} stands nowhere in the text, not even with other white "
        raise FaultError("quote_lost", what + "space or Unicode form; correct the quote or source")
    if len(places) > 1:
        what = f"the quote {shown(quote)} stands at {_with_pages(document, places)}"
        raise FaultError("quote_ambiguous", f"{what}; {_how_to_choose(document, places)}")
    return places[0]


def _how_to_choose(document: Document, places: Sequence[Place]) -> str:
    """What tells a quote's places apart; offsets into extracted text move with the extractor."""
    if not document.last_page:
        return "give offsets, or more of the text around it"
    on = [document.pages(*place) for place in places]
    apart = len({tuple(pages) for pages in on}) == len(on)
    listed = ", ".join("–".join(map(str, pages)) for pages in on[:5])
    either = f"its `page` ({listed}), or " if apart else ""
    return f"give {either}more of the text around it"


def _with_pages(document: Document, places: Sequence[Place], most: int = 5) -> str:
    """The first places, each with its page where there are pages."""
    if not document.last_page:
        return _listed(places, most)
    on = ["–".join(map(str, document.pages(*place))) or "?" for place in places[:most]]
    said = [
        f"[{start}, {end}) on page {page}"
        for (start, end), page in zip(places[:most], on, strict=True)
    ]
    rest = f" and {len(places) - most} more" if len(places) > most else ""
    return ", ".join(said) + rest


def _on_page(document: Document, spans: Sequence[Place], page: int) -> None:
    """Refuses spans of which none is on the page."""
    pages = sorted({number for span in spans for number in document.pages(*span)})
    if pages and page not in pages:
        there = ", ".join(map(str, pages))
        what = f"{_listed(spans)} is on page {there}, not on page {page}; pages are counted from 1 "
        raise FaultError("page_mismatch", what + "in the file's order: correct it, or leave it out")


def _listed(places: Sequence[Place], most: int = 5) -> str:
    """The first places and how many more there are."""
    rest = f" and {len(places) - most} more" if len(places) > most else ""
    return ", ".join(f"[{start}, {end})" for start, end in places[:most]) + rest
