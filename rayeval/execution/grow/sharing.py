"""Whether a hit and a piece of evidence share text, one of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rayeval.golden.anchor import normal

Row = Mapping[str, Any]


def shares(hit: Row, evidence: Row) -> bool:
    """Whether they share a character, as far as anybody knows.

    hit: with `source_id, revision_id, spans, text`. evidence: of tables.LOCATED.
    Where one of the two stands nowhere, the hit's text holding the quote is sharing all of it.
    """
    if hit["spans"] is None or (not evidence["spans"] and evidence["quote"]):
        return _named_alike(hit, evidence) and _says(hit, evidence)
    if any(hit[name] != evidence[name] for name in ("source_id", "revision_id")):
        return False
    return not evidence["spans"] or not hit["spans"] or _touch(hit["spans"], evidence["spans"])


def same(hit: Row, evidence: Row) -> bool:
    """Whether the evidence is this very hit and no part of it."""
    places = [one["spans"] or [] for one in (hit, evidence)]
    if hit["spans"] is None and not evidence["spans"]:
        whole = normal(hit["text"] or "") == normal(evidence["quote"] or "")
        return whole and _named_alike(hit, evidence)
    alike = all(hit[name] == evidence[name] for name in ("source_id", "revision_id"))
    return alike and places[0] == places[1]


def _named_alike(hit: Row, evidence: Row) -> bool:
    """A source that one of them doesn't name may be the other's."""
    return hit["source_id"] in (None, evidence["source_id"]) or evidence["source_id"] is None


def _says(hit: Row, evidence: Row) -> bool:
    quote = normal(evidence["quote"] or "")
    return bool(quote) and quote in normal(hit["text"] or "")


def _touch(one: list[Row], other: list[Row]) -> bool:
    """Whether two lists of spans share a character."""
    return any(
        a["start_char"] < b["end_char"] and b["start_char"] < a["end_char"]
        for a in one
        for b in other
    )
