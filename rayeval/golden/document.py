"""One document as gold is located in it: its text, its elements, and how it reads."""

from __future__ import annotations

import html
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Ints, flatten
from rayeval.golden.anchor import (
    CONTEXT,
    Place,
    Reading,
    normal,
    normalised,
    occurrences,
    unspaced,
    unspaced_reading,
)

_MARKUP = re.compile(
    r"<!--.*?-->|<(script|style|template)\b.*?</\1\s*>|<[^>]*>", re.DOTALL | re.IGNORECASE
)


class Document:
    """One revision of a source and what its parser made of it.

    row: of tables.DOCUMENTS.
    elements: (n_elements,) of tables.ELEMENT, by (start_char, -end_char).
    """

    def __init__(self, row: Mapping[str, Any], elements: pa.StructArray) -> None:
        self.source_id: str = row["source_id"]
        self.revision_id: str = row["revision_id"]
        self.text: str = row["text"]
        self.rendered: bool = row["format"] == "html"
        """Whether readers see something else than the text."""
        self._drawn: bool = row["format"] == "pdf"
        """Whether characters were placed one by one, and white space is a guess."""
        self._text_start: int = row["text_start"]
        self._elements = elements
        self._starts: Ints = elements.field("start_char").to_numpy()
        self._ends: Ints = elements.field("end_char").to_numpy()

    @property
    def content(self) -> Place:
        """All of the document but what is about it: front matter, or markup at either end."""
        if self.rendered and len(self._starts):
            return int(self._starts.min()), int(self._ends.max())
        return self._text_start, len(self.text)

    def find(self, quote: str) -> tuple[list[Place], bool]:
        """Every place of `quote`, and whether it stands there exactly.

        Where it doesn't, the places are those whose normalised text is the quote's. In a rendered
        format the rendering may be, and what readers see goes before what only the source holds.
        """
        return next(
            ((places, exact) for places, exact in self._found(quote) if places), ([], False)
        )

    def _found(self, quote: str) -> Iterator[tuple[list[Place], bool]]:
        """What `find` may give, the best first."""
        wanted = normal(quote)
        if not self.rendered:
            yield occurrences(self.text, quote), True
            yield self._normalised.find(wanted), False
            if self._drawn:
                yield from ((way.find(unspaced(wanted)), False) for way in self._unspaced)
            return
        ways = [
            (occurrences(self.text, quote), True),
            (self._normalised.find(wanted), False),
            (self._normalised_rendering.find(wanted), False),
        ]
        for places, exact in ways:
            yield [place for place in places if self._shows(*place)], exact
        yield from ways

    @property
    def forms(self) -> list[str]:
        """The text in every form in which `find` looks for a quote's, but as it is."""
        if self._drawn:
            return [normal(self.text), *(way.text for way in self._unspaced)]
        return list(map(normal, [self.text, *[self.rendering.text] * self.rendered]))

    @cached_property
    def _normalised(self) -> Reading:
        return normalised(self.text)

    @cached_property
    def _unspaced(self) -> list[Reading]:
        """Without white space; and without the hyphens at the ends of lines, too."""
        return [unspaced_reading(self.text, hyphens=kept) for kept in (True, False)]

    @cached_property
    def _normalised_rendering(self) -> Reading:
        return normalised(self.rendering.text).through(self.rendering)

    @cached_property
    def rendering(self) -> Reading:
        """What a reader sees of a rendered format: the outermost elements, each on its line."""
        outer = np.flatnonzero(self._starts >= self._reached)
        elements = self._elements.take(pa.array(outer))
        lines = pc.fill_null(elements.field("text"), "").to_pylist()
        number, pieces = flatten(elements.field("pieces"))
        last = self._ends[outer]
        order = np.argsort(np.concatenate([number, np.arange(len(outer))]), kind="stable")
        starts = np.concatenate([pieces.field("start_char").to_numpy(), last])[order]
        ends = np.concatenate([pieces.field("end_char").to_numpy(), last])[order]
        widths = np.concatenate([pieces.field("text_chars").to_numpy(), np.ones_like(last)])[order]
        within = np.arange(widths.sum()) - np.repeat(np.cumsum(widths) - widths, widths)
        exact = np.repeat(widths == ends - starts, widths)  # else all of the piece is the source
        first = np.repeat(starts, widths) + within * exact
        past = np.where(exact, first + 1, np.repeat(ends, widths))
        return Reading("".join(f"{line}\n" for line in lines), first.tolist(), past.tolist())

    @cached_property
    def _reached(self) -> Ints:
        """(n_elements,), where the elements before each one end at the latest."""
        reached = np.maximum.accumulate(np.concatenate([[0], self._ends]))
        return reached[: len(self._starts)]

    def covered(self, spans: Sequence[Place]) -> int:
        """How many characters of `spans`, which are disjoint, were not lost in parsing.

        What may lie outside every element is white space, and markup of a rendered format.
        """
        if self.rendered and self.read(spans):
            return sum(end - start for start, end in spans)
        return sum(end - start - self._lost(start, end) for start, end in spans)

    def _lost(self, start: int, end: int) -> int:
        """Characters of [start, end) other than white space that no element holds."""
        low = np.clip(np.maximum(self._starts, self._reached), start, end)
        high = np.clip(self._ends, start, end)
        held = high > low
        gaps = zip([start, *high[held]], [*low[held], end], strict=True)
        return sum(len("".join(self.text[a:b].split())) for a, b in gaps)

    def read(self, spans: Sequence[Place]) -> bool:
        """Whether the elements' text there is the source's, but for its form."""
        return not self.rendered or all(self._shows(start, end) for start, end in spans)

    def _shows(self, start: int, end: int) -> bool:
        reading = self.rendering
        shown = reading.text[bisect_right(reading.ends, start) : bisect_left(reading.starts, end)]
        source = html.unescape(_MARKUP.sub("", self.text[start:end]))
        return normal(source).replace(" ", "") in normal(shown).replace(" ", "")

    def element(self, element_id: str) -> Place | None:
        """Where the element of this id stands."""
        number = self._numbers.get(element_id)
        return None if number is None else (int(self._starts[number]), int(self._ends[number]))

    @property
    def element_ids(self) -> list[str]:
        """In the document's order."""
        return list(self._numbers)

    @cached_property
    def _numbers(self) -> dict[str, int]:
        ids = self._elements.field("element_id").to_pylist()
        return {element_id: number for number, element_id in enumerate(ids)}

    def pages(self, start: int, end: int) -> list[int]:
        """The pages on which the characters [start, end) stand; none where there are no pages."""
        held = (self._starts[self._paged] < end) & (self._ends[self._paged] > start)
        return sorted(set(self._pages[self._paged[held]].tolist()))

    @property
    def last_page(self) -> int:
        """The last page with text; 0 where there are no pages."""
        return int(self._pages.max(initial=0))

    def page(self, number: int) -> Place | None:
        """All that stands on a page."""
        on = self._paged[self._pages[self._paged] == number]
        return (int(self._starts[on[0]]), int(self._ends[on[-1]])) if len(on) else None

    @cached_property
    def _pages(self) -> Ints:
        """(n_elements,), 0 where a page is not known."""
        return np.asarray(pc.fill_null(self._elements.field("page"), 0), np.int64)

    @cached_property
    def _paged(self) -> Ints:
        """The elements that hold no other, and whose page is known."""
        inner = np.append(self._starts[1:] >= self._ends[:-1], True)[: len(self._starts)]
        return np.flatnonzero(inner & (self._pages > 0))

    def heading(self, start: int) -> list[Place]:
        """The nearest heading that begins at or above `start`, if there is one."""
        above = self._headings[self._starts[self._headings] <= start]
        return [(int(self._starts[above[-1]]), int(self._ends[above[-1]]))] if len(above) else []

    @cached_property
    def _headings(self) -> Ints:
        kinds = self._elements.field("kind").to_pylist()
        return np.array([n for n, kind in enumerate(kinds) if kind == "heading"], dtype=np.int64)

    def around(self, start: int, end: int) -> list[Place]:
        """The CONTEXT characters on either side, as far as the content reaches."""
        first, last = self.content
        sides = [(max(min(first, start), start - CONTEXT), start)]
        sides.append((end, min(max(last, end), end + CONTEXT)))
        return [(left, right) for left, right in sides if left < right]
