"""Text that is nearly a lost quote: something to look at, never taken for it (DESIGN §4)."""

from __future__ import annotations

from dataclasses import dataclass

from rapidfuzz import fuzz

from rayeval.golden.anchor import Place, normal, normalised, occurrences

LEAST = 0.7
"""Share of characters that two texts have in common, from which one is worth a look."""
PIECES = 4
SHORTEST = 8
"""Characters of a piece: shorter ones stand everywhere."""
LONGEST = 2_000
"""Characters of a quote that are compared: what is near to its beginning is near to it."""


@dataclass(frozen=True)
class Near:
    """Where something like a quote stands.

    similarity: in [LEAST, 1]; 1: word for word, but for white space and Unicode form.
    """

    source_id: str
    revision_id: str
    place: Place
    text: str
    similarity: float
    times: int
    """How often this very text stands in its document."""

    @property
    def exact(self) -> bool:
        """Whether it says the same, word for word."""
        return self.similarity == 1


def pieces(quote: str) -> list[str]:
    """Parts of a normal quote of which a text that is nearly the same has one; itself the first.

    A text that differs in fewer than PIECES places has one of PIECES parts unchanged.
    """
    size = max(SHORTEST, len(quote) // PIECES)
    parts = [quote[start : start + size] for start in range(0, len(quote) - size + 1, size)]
    return [quote, *parts]


def nearest(quote: str, text: str, source_id: str, revision_id: str) -> Near | None:
    """What in `text` is most like `quote`, from one end of a word to another; None: nothing is."""
    reading = normalised(text)
    wanted = normal(quote)
    places = occurrences(reading.text, wanted)
    if places:
        place = reading.source(places[0])
        said = text[slice(*place)]
        return Near(source_id, revision_id, place, said, 1.0, len(places))
    wanted = wanted[:LONGEST]
    found = fuzz.partial_ratio_alignment(wanted, reading.text, score_cutoff=100 * LEAST)
    if found is None or not wanted or len(reading.text) < len(wanted) // 2:
        return None
    start, end = _to_words(reading.text, found.dest_start, found.dest_end)
    similarity = fuzz.ratio(wanted, reading.text[start:end]) / 100
    if start == end or similarity < LEAST:
        return None
    place = reading.source((start, end))
    said = text[slice(*place)]
    return Near(source_id, revision_id, place, said, min(similarity, 0.999), text.count(said))


def _to_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The place widened to whole words, without white space at its ends."""
    while start > 0 and text[start - 1].isalnum() and text[start : start + 1].isalnum():
        start -= 1
    while end < len(text) and text[end - 1 : end].isalnum() and text[end].isalnum():
        end += 1
    inner = text[start:end]
    return start + len(inner) - len(inner.lstrip()), end - (len(inner) - len(inner.rstrip()))
