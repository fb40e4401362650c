"""Text that is nearly a lost quote: something to look at, never taken for it (DESIGN §4)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rapidfuzz import fuzz

from rayeval.golden.anchor import Place, Reading, normal, normalised, occurrences

LEAST = 0.7
"""Share of characters that two texts have in common, from which one is worth a look."""
PIECES = 4
SHORTEST = 8
"""Characters of a piece: shorter ones stand everywhere."""
LONGEST = 2_000
"""Characters of a quote that are compared: what is near to its beginning is near to it."""
REACH = 3
"""A third of the quote's length: as far as its ends are looked for from where it aligns."""
TRIED = 24
BETTER = 2
"""Points of 100 that an end of a sentence is worth."""
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n")
_SENTENCE = re.compile(r"""[.!?…。！？]["'”’)\]」』）]*$""")
_WIDE = ("。", "！", "？")
_STOP = re.compile(r"[,;:.!?](?!\w)")


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
    about = _to_words(reading.text, found.dest_start, found.dest_end)
    breaks = [] if _PARAGRAPH.search(quote.strip()) else _breaks(text, reading)
    start, end = fitted(wanted, reading.text, about, breaks)
    similarity = fuzz.ratio(wanted, reading.text[start:end]) / 100
    if start == end or similarity < LEAST:
        return None
    place = reading.source((start, end))
    said = text[slice(*place)]
    return Near(source_id, revision_id, place, said, min(similarity, 0.999), text.count(said))


def fitted(wanted: str, text: str, about: Place, breaks: Sequence[int]) -> Place:
    """What of `text` about that place is most like `wanted`, from one end of a word to another.

    breaks: where paragraphs end; none is crossed. An end of a sentence or a paragraph that costs
    next to nothing goes before one within.
    """
    low, high = _paragraph(text, about, breaks)
    about = max(about[0], low), min(about[1], high)
    reach = max(SHORTEST, len(wanted) // REACH)
    starts = _near(about[0], _starts(text, max(low, about[0] - reach), about[0] + reach, low))
    ends = _near(about[1], _ends(text, about[1] - reach, min(high, about[1] + reach), high))
    options = [
        (fuzz.ratio(wanted, text[start:end]) + BETTER * (first + last), start, end)
        for start, first in starts
        for end, last in ends
        if low <= start < end <= high
    ]
    _, start, end = max(options, key=lambda one: (one[0], -one[1], -one[2]), default=(0, *about))
    return start, end


def _paragraph(text: str, about: Place, breaks: Sequence[int]) -> Place:
    """The paragraph that has most of the place."""
    edges = [0, *breaks, len(text)]
    return max(pairwise(edges), key=lambda edge: min(edge[1], about[1]) - max(edge[0], about[0]))


def _breaks(text: str, reading: Reading) -> list[int]:
    """Where in the reading's text, at a space, an empty line is left out."""
    return [
        at
        for at, sign in enumerate(reading.text)
        if sign == " " and _PARAGRAPH.search(text, reading.starts[at], reading.ends[at])
    ]


def _starts(text: str, first: int, last: int, low: int) -> Iterator[tuple[int, bool]]:
    """(place, whether a sentence begins there) of the words that begin in [first, last]."""
    for at in range(max(first, low), min(last, len(text) - 1) + 1):
        before = text[max(low, at - 4) : at]
        word = at == low or before.endswith((" ", *_WIDE))
        if word and text[at] != " ":
            yield at, not before.strip() or bool(_SENTENCE.search(before.rstrip()))


def _ends(text: str, first: int, last: int, high: int) -> Iterator[tuple[int, bool]]:
    """(place, whether a sentence ends there) of the words that end in [first, last]."""
    for at in range(max(first, 1), min(last, high) + 1):
        before, after = text[max(0, at - 4) : at], text[at : min(high, at + 2)]
        apart = not after or after[0] == " " or before.endswith(_WIDE)
        if before.endswith(" ") or not (apart or _STOP.match(after)):
            continue
        yield at, not after or (apart and bool(_SENTENCE.search(before)))


def _near(about: int, places: Iterator[tuple[int, bool]]) -> list[tuple[int, bool]]:
    """The place itself and some of those around it, the nearest ones."""
    every = {about: False, **dict(places)}
    return sorted(every.items(), key=lambda one: abs(one[0] - about))[:TRIED]


def _to_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The place widened to whole words, without white space at its ends."""
    while start > 0 and text[start - 1].isalnum() and text[start : start + 1].isalnum():
        start -= 1
    while end < len(text) and text[end - 1 : end].isalnum() and text[end].isalnum():
        end += 1
    inner = text[start:end]
    return start + len(inner) - len(inner.lstrip()), end - (len(inner) - len(inner.rstrip()))
