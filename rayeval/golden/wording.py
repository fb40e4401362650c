"""What evidence has to say so that it is found where it stands now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rayeval.golden.anchor import Place
from rayeval.golden.document import Document
from rayeval.golden.problems import FaultError
from rayeval.golden.spots import located


@dataclass(frozen=True)
class Wording:
    """What to add to what evidence says, or to put in its place; None: nothing."""

    spans: list[Place] | None = None
    page: int | None = None
    element: str | None = None


def wording(document: Document, evidence: Mapping[str, Any], places: Sequence[Place]) -> Wording:
    """The least that finds `places`: what is written, that with its page, or offsets.

    evidence: as in tables.EVIDENCE. Its page goes before offsets, which count characters as an
    extractor gave them.
    """
    ways = _ways(document, evidence, list(places))
    return next(
        words
        for words in ways
        if words.spans is not None or _finds(document, evidence, words, places)
    )


def page_of(document: Document, places: Sequence[Place]) -> int | None:
    """On which page they begin; None where there are no pages."""
    return next(iter(document.pages(places[0][0], places[-1][1])), None)


def _ways(
    document: Document, evidence: Mapping[str, Any], places: list[Place]
) -> Iterator[Wording]:
    page = page_of(document, places)
    yield Wording()
    if page not in (None, evidence["page"]):
        yield Wording(page=page)
    stale = evidence["page"] is not None and evidence["page"] != page
    yield Wording(places, page if stale else None)


def _finds(
    document: Document, evidence: Mapping[str, Any], words: Wording, places: Sequence[Place]
) -> bool:
    page = evidence["page"] if words.page is None else words.page
    try:
        return located(document, {**evidence, "page": page}) == list(places)
    except FaultError:
        return False
