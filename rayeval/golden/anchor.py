"""Where a quote stands in a text, exactly or but for its form, and how gold survives a change.

Offsets are code points, half-open. Everything here takes time linear in the text, but for quotes
that overlap themselves at most of their occurrences ("aaaa").
"""

from __future__ import annotations

import re
import sys
import unicodedata
from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal

CONTEXT = 32
"""Characters kept on either side of a quote, to know it again (DESIGN §4)."""

_REACH = 4 * CONTEXT
"""As far as a context may reach in another form: CRLF for line ends, NFD for NFC."""

Place = tuple[int, int]
_SPACE = re.compile(r"\s{2,}|[^\S ]")
"""White space that is not one plain space, line ends included."""
_ANY_SPACE = re.compile(r"\s+")
_LINE_HYPHEN = re.compile(r"(?<=\w)[-\u00ad\u2010]\s*\n\s*(?=\w)")


@dataclass(frozen=True)
class Reading:
    """A text read in another form: its characters, and where each came from.

    starts, ends: (len(text),), character i stands for the source's [starts[i], ends[i]).
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def source(self, place: Place) -> Place:
        """The source's characters that read as this, not empty, part of the reading."""
        return self.starts[place[0]], self.ends[place[1] - 1]

    def find(self, quote: str) -> list[Place]:
        """Every place in the source that reads as `quote`, in order."""
        return sorted({self.source(place) for place in occurrences(self.text, quote)})

    def through(self, below: Reading) -> Reading:
        """The same reading of what `below`, the text that this one reads, was read from."""
        starts = array("q", [below.starts[i] for i in self.starts])
        return Reading(self.text, starts, array("q", [below.ends[i - 1] for i in self.ends]))


def occurrences(text: str, quote: str) -> list[Place]:
    """Every place of `quote` in `text`, overlapping ones too; an empty quote has none."""
    places = []
    at = text.find(quote) if quote else -1
    while at >= 0:
        places.append((at, at + len(quote)))
        at = text.find(quote, at + 1)
    return places


def normal(quote: str) -> str:
    """`quote` in NFC, white space trimmed and each run of it one space."""
    return " ".join(unicodedata.normalize("NFC", quote).split())


def normalised(text: str) -> Reading:
    """`text` in NFC, each run of white space one space; `normal` quotes are found in it."""
    if unicodedata.is_normalized("NFC", text):
        return _rewritten(text, _SPACE, lambda _: " ")
    composed = _rewritten(text, _recomposed(), lambda s: unicodedata.normalize("NFC", s))
    return _rewritten(composed.text, _SPACE, lambda _: " ").through(composed)


def unspaced(quote: str) -> str:
    """`quote`, which is normal, without white space."""
    return quote.replace(" ", "")


def unspaced_reading(text: str, *, hyphens: bool = True) -> Reading:
    """`text` in NFC without white space; `unspaced` quotes are found in it.

    hyphens: keep those at the ends of lines.
    """
    reading = normalised(text)
    if not hyphens:
        cut = _rewritten(text, _LINE_HYPHEN, lambda _: "")
        reading = normalised(cut.text).through(cut)
    return _rewritten(reading.text, _ANY_SPACE, lambda _: "").through(reading)


@dataclass(frozen=True)
class Anchored:
    """What became of a quote in a changed text.

    places: one where it was found; the candidates where it is ambiguous; none where it is lost.
    """

    status: Literal["kept", "moved", "normalised", "ambiguous", "lost"]
    places: list[Place]


def anchor(text: str, quote: str, *, start: int, before: str | None, after: str | None) -> Anchored:
    """Where in `text` the `quote` stands that stood at `start` of an older text (DESIGN §4).

    before, after: the CONTEXT characters either side of it in the older text; None: unknown.
    """
    exact = occurrences(text, quote)
    home = (start, start + len(quote))
    sure = exact == [home] or (before is None and after is None)
    if home in exact and (sure or _sides(text, home, before, after)):
        return Anchored("kept", [home])
    if exact:
        best = chosen(text, exact, before, after)
        return Anchored("moved" if len(best) == 1 else "ambiguous", best)
    reading = normalised(text)
    found = occurrences(reading.text, normal(quote))
    around = [None if side is None else _spaced(side) for side in (before, after)]
    places = [reading.source(place) for place in chosen(reading.text, found, *around)]
    if len(places) == 1:
        return Anchored("normalised", places)
    return Anchored("ambiguous" if places else "lost", places)


def chosen(
    text: str, places: Sequence[Place], before: str | None, after: str | None
) -> list[Place]:
    """Those of `places` with the most matching sides; all of them where no side matches.

    Sides match but for white space and Unicode form; exact ones tell apart what else is equal.
    """
    sides = [
        (_sides(text, place, before, after, _spaced), _sides(text, place, before, after))
        for place in places
    ]
    return [place for place, count in zip(places, sides, strict=True) if count == max(sides)]


def _sides(
    text: str,
    place: Place,
    before: str | None,
    after: str | None,
    form: Callable[[str], str] = str,
) -> int:
    """On how many sides the context matches in this form; an empty one is the text's own end."""
    start, end = place
    left = form(text[max(0, start - _REACH) : start]).endswith(form(before or ""))
    right = form(text[end : end + _REACH]).startswith(form(after or ""))
    return (before is not None and (left if before else start == 0)) + (
        after is not None and (right if after else end == len(text))
    )


def _spaced(text: str) -> str:
    """`text` in NFC, each run of white space one space."""
    return _SPACE.sub(" ", unicodedata.normalize("NFC", text))


def _rewritten(text: str, pattern: re.Pattern[str], new: Callable[[str], str]) -> Reading:
    """`text` with `new` of every match; a changed match is the source of all that replaces it."""
    parts, at = [], 0
    starts, ends = array("q"), array("q")
    for match in pattern.finditer(text):
        put = new(match[0])
        if put != match[0]:
            start, end = match.span()
            parts += [text[at:start], put]
            starts.extend([*range(at, start), *[start] * len(put)])
            ends.extend([*range(at + 1, start + 1), *[end] * len(put)])
            at = end
    starts.extend(range(at, len(text)))
    ends.extend(range(at + 1, len(text) + 1))
    return Reading("".join([*parts, text[at:]]), starts, ends)


@cache
def _recomposed() -> re.Pattern[str]:
    """Pieces of text that NFC may change, each apart from its surroundings.

    A character joins what stands before it when its decomposition begins with a mark, or with
    the second half of some composition (Unicode Standard Annex 15, section 9).
    """
    signs = [chr(c) for c in range(sys.maxunicode) if unicodedata.category(chr(c))[0] != "C"]
    seconds = {chr(c) for c in range(0x1161, 0x11C3)}  # the vowels and finals of Hangul
    for sign in signs:
        parts = unicodedata.decomposition(sign).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            seconds.add(chr(int(parts[1], 16)))
    firsts = {sign: unicodedata.normalize("NFD", sign)[0] for sign in signs}
    joining = {s for s, f in firsts.items() if unicodedata.combining(f) or f in seconds}
    changing = {sign for sign in signs if unicodedata.normalize("NFC", sign) != sign}
    joins, changes = ("".join(map(re.escape, sorted(s))) for s in (joining, changing - joining))
    return re.compile(f"[^{joins}]?[{joins}]+|[{changes}]")
