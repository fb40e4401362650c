"""One piece of evidence, and what became of it in the documents of today."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rayeval.golden.anchor import Place
from rayeval.golden.anchors import sha256
from rayeval.golden.document import Document
from rayeval.golden.follow import Outcome, follow
from rayeval.golden.moved import Move
from rayeval.golden.nearest import Near
from rayeval.golden.wording import Wording, page_of, wording


@dataclass
class Case:
    """One piece of evidence; `settle` says what became of it.

    evidence: as in anchors.STATED. notes: of anchors.SCHEMA, by span.
    spans: where it is located as it is written; none where it isn't.
    """

    file: str
    line: int
    question_id: str
    evidence_id: str
    evidence: Mapping[str, Any]
    spans: list[Place]
    located: bool
    revision_id: str | None
    """The revision that it is about: the one it names, else the valid one; None: there is none."""
    notes: Sequence[Mapping[str, Any]]
    answer: str | None = None
    """The question's reference answer."""
    hint: str = ""
    """What its source may be called now, where there is none of its name."""
    outcome: Outcome = field(default_factory=lambda: Outcome("kept", []))
    new: str | None = None
    suggested: Sequence[Near] = ()
    """Where lost text may stand, the nearest first."""
    move: Move | None = None
    """What to write, where something is to be."""

    @property
    def renamable(self) -> bool:
        """Whether its source is gone, and the text that it had is known."""
        return (
            self.revision_id is None and self.evidence["source_id"] is not None and bool(self.notes)
        )

    @property
    def of_element(self) -> bool:
        """Whether an element locates it."""
        return self.evidence["element_id"] is not None

    @property
    def followed(self) -> bool:
        """Whether the text of its source decides: it names a source, and a place in it."""
        where = ("spans", "quote", "element_id", "page")
        named = any(self.evidence[name] is not None for name in where)
        return named and self.evidence["source_id"] is not None and self.revision_id is not None

    def settle(self, document: Document | None) -> None:
        """document: its source as it is now, None where that doesn't decide."""
        if document is None or (self._by_page and not document.last_page):
            self.outcome = Outcome("kept", self.spans) if self.located else self._gone()
            return
        same = bool(self.notes) and self.notes[0]["source_sha256"] == sha256(document.text)
        if same and self.spans:
            self.outcome = Outcome("kept", self.spans)
        else:
            self.outcome = self._found(document)
        if self.outcome.status in ("ambiguous", "lost"):
            return
        places = self.outcome.places
        self.new = "\n".join(document.text[start:end] for start, end in places)
        words = self._words(document, places)
        repinned = self.evidence["revision_id"] not in (None, self.revision_id)
        self.outcome = _told(self.outcome, words, self.evidence["page"])
        if repinned and words == Wording():
            self.outcome = Outcome("moved", places, "the revision that it names is gone")
        if repinned or words != Wording():
            self.move = Move(words.spans, self.new, str(self.revision_id),
                             element=words.element, page=words.page)  # fmt: skip

    def _found(self, document: Document) -> Outcome:
        """As `follow` has it."""
        elements = {}
        if self.of_element:
            names = document.element_ids
            elements = {name: at for name in names if (at := document.element(name)) is not None}
        paged = self.evidence["page"] is not None and document.last_page > 0
        return follow(document.text, self.evidence, self.notes, self.spans, elements, paged=paged)

    def _words(self, document: Document, places: list[Place]) -> Wording:
        """What it has to say from now on."""
        element = self.outcome.element
        if element is None:
            return wording(document, self.evidence, places)
        spans = None if self.evidence["spans"] is None else places
        page = None if self.evidence["page"] is None else page_of(document, places)
        return Wording(spans, page, element)

    @property
    def _by_page(self) -> bool:
        """Whether all it says of its place is a page."""
        return all(self.evidence[name] is None for name in ("spans", "quote", "element_id"))

    def rename(self, twins: Sequence[tuple[str, str]]) -> None:
        """Its source is gone; twins: (source, revision) that have that source's very text now."""
        was = self.evidence["source_id"]
        if len(twins) > 1:
            names = ", ".join(source for source, _ in twins)
            said = f"source {was!r} is gone, and its text is that of {names}; name one"
            self.outcome = Outcome("ambiguous", [], said)
        elif twins:
            [(source, revision)] = twins
            said = f"source {was!r} is called {source!r} now: the same text"
            self.outcome = Outcome("moved", places_of(self.notes), said)
            self.new, self.revision_id = self.old, revision
            self.move = Move(None, self.new, revision, source_id=source)

    @property
    def was(self) -> list[Place]:
        """Where it stood: as written, else as noted."""
        return places_of(self.evidence["spans"]) or places_of(self.notes)

    @property
    def old(self) -> str | None:
        """What stood there, if that is known."""
        quotes = [str(row["quote"]) for row in self.notes if row["quote"] is not None]
        return "\n".join(quotes) if quotes else self.evidence["quote"]

    def _gone(self) -> Outcome:
        source = self.evidence["source_id"]
        if source is None:
            return Outcome("lost", [], "the quote stands in no current document")
        if self.revision_id is None:
            message = f"there is no source {source!r} any more, or it is deleted{self.hint}"
            return Outcome("lost", [], message)
        return Outcome("lost", [], "the source has no text")


def _told(outcome: Outcome, words: Wording, page: int | None) -> Outcome:
    """With what changes of its wording; what is found as it is written is where it was.

    page: that it says so far.
    """
    status, message = outcome.status, outcome.message
    if words == Wording() and status in ("moved", "normalised"):
        status = "kept"
    elif words.page is not None and page is not None and words.page != page:
        status = "moved" if status == "kept" else status
        message = message or f"on page {words.page} now, not on page {page}"
    elif words != Wording() and status == "kept":
        by = "its page" if words.spans is None else "offsets"
        message = f"what it says is no longer enough to find it: {by} will say where"
    return replace(outcome, status=status, message=message)


def places_of(spans: Sequence[Mapping[str, Any]] | None) -> list[Place]:
    """Spans of a table, those that say where."""
    return [
        (span["start_char"], span["end_char"])
        for span in spans or ()
        if span["start_char"] is not None
    ]
