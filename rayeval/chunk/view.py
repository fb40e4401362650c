"""A document as it is cut: one text, its elements in it, and where it stands in the source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.chunk.characters import Classes, Filled, classes
from rayeval.columns import Ints, flatten

Names = npt.NDArray[np.object_]


@dataclass(frozen=True)
class Elements:
    """A document's elements, by (start, -end): (n_elements,) each."""

    names: Names
    kinds: Names
    starts: Ints
    ends: Ints
    texts: Names
    """None where an element is exactly its source."""
    pieces: Names
    """Of each element with a text, (n_pieces, 3): source start, source end, characters shown."""
    pages: Ints
    """0 where an element's page is not known."""

    @property
    def outermost(self) -> npt.NDArray[np.bool_]:
        """Which elements lie in no other."""
        return in_no_other(self.starts, self.ends)


@dataclass(frozen=True)
class View:
    """The text that is cut."""

    text: str
    elements: Elements
    starts: Ints
    """Where the elements lie in `text`."""
    ends: Ints
    char_starts: Ints
    """The source range of each character of `text`, with `char_ends`: (n_chars,)."""
    char_ends: Ints

    @cached_property
    def classes(self) -> Classes:
        """The class of every character."""
        return classes(self.text)

    @cached_property
    def filled(self) -> Filled:
        """Where the characters other than white space lie."""
        return Filled(self.classes)

    def within(self, starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
        """Which elements lie wholly in each range of `text`, but for white space at their ends.

        starts, ends: (n_ranges,). Returns (how many in each range, (n_ranges,), which elements).
        """
        begins, stops = self.filled.start(self.starts), self.filled.end(self.ends)
        low, high = np.searchsorted(begins, starts), np.searchsorted(begins, ends)
        ranges = np.repeat(np.arange(len(starts)), high - low)
        which = np.arange(len(ranges)) + (high - np.cumsum(high - low))[ranges]
        inside = stops[which] <= ends[ranges]
        return np.bincount(ranges[inside], minlength=len(starts)), which[inside]

    def pages(self, starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
        """The pages that each range of `text` touches, ascending.

        starts, ends: (n_ranges,). Returns (how many in each range, (n_ranges,), which pages).
        """
        # What holds other elements may go over several pages, and is numbered by its first.
        leaf = np.concatenate((self.starts[1:] >= self.ends[:-1], [True]))[: len(self.starts)]
        leaf &= self.elements.pages > 0
        pages = self.elements.pages[leaf]
        low = np.searchsorted(self.ends[leaf], starts, side="right")
        high = np.maximum(np.searchsorted(self.starts[leaf], ends), low)
        ranges = np.repeat(np.arange(len(starts)), high - low)
        which = np.arange(len(ranges)) + (high - np.cumsum(high - low))[ranges]
        pairs = np.unique(np.stack([ranges, pages[which]], axis=1), axis=0)
        return np.bincount(pairs[:, 0], minlength=len(starts)), pairs[:, 1]


def verbatim(source: str, start: int, elements: Elements) -> View:
    """A document whose elements are exactly their source: all of it, from character `start`."""
    places = np.arange(start, len(source), dtype=np.int64)
    starts, ends = elements.starts - start, elements.ends - start
    return View(source[start:], elements, starts, ends, places, places + 1)


def rendered(elements: Elements) -> View:
    """A document whose elements show other text than their source: its outermost, line by line."""
    top = np.flatnonzero(elements.outermost)
    lines = list(elements.pieces[top])
    # The line end between two elements stands for what lies between them in the source.
    gaps = [np.array([[before[-1, 1], after[0, 0], 1]]) for before, after in pairwise(lines)]
    woven = [pieces for pair in zip(lines, [*gaps, None], strict=True) for pieces in pair]
    pieces = np.concatenate([p for p in woven if p is not None] or [np.empty((0, 3), np.int64)])
    char_starts, char_ends = _characters(pieces)
    starts = np.searchsorted(char_starts, elements.starts)
    lengths = np.array([len(text) for text in elements.texts], dtype=np.int64)
    text = "\n".join(elements.texts[top])
    return View(text, elements, starts, starts + lengths, char_starts, char_ends)


def in_no_other(starts: Ints, ends: Ints) -> npt.NDArray[np.bool_]:
    """Which ranges lie within none before them; sorted by (start, -end)."""
    reach = np.maximum.accumulate(ends)
    return np.concatenate(([True], starts[1:] >= reach[:-1])) if len(starts) else starts > 0


def _characters(pieces: Ints) -> tuple[Ints, Ints]:
    """The source range of every character: its own where a piece is as long as what it shows."""
    begin, end, shown = pieces.T
    owner = np.repeat(np.arange(len(pieces)), shown)
    within = np.arange(len(owner)) - (np.cumsum(shown) - shown)[owner]
    linear = (end - begin == shown)[owner]
    char_starts = begin[owner] + np.where(linear, within, 0)
    return char_starts, np.where(linear, char_starts + 1, end[owner])


def documents(column: pa.ChunkedArray) -> Iterator[Elements]:
    """The elements of each row of a column `elements`."""
    rows, items = flatten(column)
    fields = dict(zip(items.type.names, items.flatten(), strict=True))
    objects = [
        fields[name].to_numpy(zero_copy_only=False) for name in ("element_id", "kind", "text")
    ]
    starts, ends = (np.asarray(fields[name], np.int64) for name in ("start_char", "end_char"))
    pages = np.asarray(pc.fill_null(fields["page"], 0), np.int64)
    owners, pieces = flatten(fields["pieces"])
    table = np.stack([np.asarray(field, np.int64) for field in pieces.flatten()], axis=1)
    cuts = np.searchsorted(owners, np.arange(len(items) + 1))
    per_element = np.empty(len(items), dtype=object)
    per_element[:] = [table[i:j] for i, j in pairwise(cuts)]
    edges = np.searchsorted(rows, np.arange(len(column) + 1))
    for i, j in pairwise(edges):
        names, kinds, texts = (array[i:j] for array in objects)
        own = names, kinds, starts[i:j], ends[i:j], texts, per_element[i:j], pages[i:j]
        yield Elements(*own)
