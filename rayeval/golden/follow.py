"""What became of one piece of evidence in the text its source has now."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from rayeval.golden.anchor import Place, anchor, normal

_NUMBERS = re.compile("[0-9]+")
Status = Literal["kept", "moved", "normalised", "unchecked", "ambiguous", "lost"]
ORDER: tuple[Status, ...] = ("kept", "moved", "normalised", "unchecked", "ambiguous", "lost")
"""From the best; evidence of several spans is what becomes of the worst."""

WHICH = (
    "nothing tells the places apart; give the offsets of the one that is meant, or more of the "
    "text around it"
)


@dataclass(frozen=True)
class Outcome:
    """What became of evidence, and where it stands now.

    places: its spans; the candidates where it is ambiguous; none where it is lost.
    """

    status: Status
    places: list[Place]
    message: str = ""
    element: str | None = None
    """What its element is called now, where that is another one."""


def follow(
    text: str,
    evidence: Mapping[str, Any],
    notes: Sequence[Mapping[str, Any]],
    spans: list[Place],
    elements: Mapping[str, Place] | None = None,
    *,
    paged: bool = False,
) -> Outcome:
    """Evidence that names a source, in the `text` of the revision that it is about now.

    evidence: as in tables.EVIDENCE. notes: its rows of anchors.SCHEMA, by span; maybe none.
    spans: where it is located in `text` as it is written; none where it isn't.
    elements: of `text`, by id.
    paged: whether a page says which place is meant: that is no sign that it still is, where what
        stood around it is known.
    """
    if evidence["element_id"] is not None:
        return _element(text, evidence, notes, spans, elements or {})
    marks = [(n["start_char"], n["quote"], n["before"], n["after"]) for n in notes if n["quote"]]
    if not marks or (spans and evidence["spans"] is None and not paged):
        return _unnoted(text, evidence, spans)
    found = [anchor(text, q, start=s, before=b, after=a) for s, q, b, a in marks]
    outcome = _together([(one.status, one.places) for one in found])
    if outcome.status != "lost" or not paged or not spans or evidence["spans"] is not None:
        return outcome
    if evidence["quote"] is None:
        return Outcome("lost", [], "its page has another text now, and what it had stands nowhere")
    return Outcome("kept", spans)


def _unnoted(text: str, evidence: Mapping[str, Any], spans: list[Place]) -> Outcome:
    """By the quote alone; a quote that fits where it is said to stand stays there."""
    quote, stated = evidence["quote"], evidence["spans"]
    if spans:
        if quote is None and stated is not None:
            return Outcome("unchecked", spans, "offsets without a quote: nothing tells what stood "
                           "there; anchor with --was OLD_CORPUS, or add quotes")  # fmt: skip
        return Outcome("kept", spans)
    if quote is None:
        where = "there is no such page" if stated is None else "the offsets lie outside the text"
        return Outcome("lost", [], f"{where}, and there is no quote")
    start = stated[0]["start_char"] if stated and len(stated) == 1 else -1
    found = anchor(text, quote, start=start, before=None, after=None)
    once = stated is None and len(found.places) == 1  # then the quote alone finds it
    return _together([("kept" if once else found.status, found.places)])


def _together(found: Sequence[tuple[Status, list[Place]]]) -> Outcome:
    """The outcome of all spans; none may be lost, and their order stays."""
    worst = max((status for status, _ in found), key=ORDER.index)
    if worst == "lost":
        return Outcome("lost", [], "the quote stands nowhere in the text")
    places = [place for _, some in found for place in some]
    if worst == "ambiguous":
        return Outcome("ambiguous", places, WHICH)
    if any(left[1] > right[0] for left, right in pairwise(places)):
        return Outcome("ambiguous", places, "the spans no longer follow each other; give offsets")
    return Outcome(worst, places)


def _element(
    text: str,
    evidence: Mapping[str, Any],
    notes: Sequence[Mapping[str, Any]],
    spans: list[Place],
    elements: Mapping[str, Place],
) -> Outcome:
    """An element is the same while its text is, wherever it stands and whatever its number."""
    name = "/".join(filter(None, (evidence["element_id"], evidence["cell"])))
    noted = normal("".join(row["quote"] for row in notes))
    if spans and (not notes or normal("".join(text[a:b] for a, b in spans)) == noted):
        return Outcome("kept", spans)
    same = [
        (other, place)
        for other, place in elements.items()
        if noted and _kind(other) == _kind(name) and normal(text[slice(*place)]) == noted
    ]
    if len(same) == 1:
        [(other, place)] = same
        return Outcome("moved", [place], f"element {name!r} is {other!r} now", other)
    if same:
        names = ", ".join(other for other, _ in same)
        return Outcome(
            "ambiguous", [p for _, p in same], f"the text of {name!r} is that of {names}"
        )
    if not spans:
        return Outcome("lost", [], f"no element {name!r} that fits; name the one that is meant")
    return Outcome("lost", [], f"element {name!r} has another text now; read it again")


def _kind(name: str) -> str:
    """An element's id without its numbers: a cell is no row, and a list no table."""
    return _NUMBERS.sub("#", name)
