"""Pieces of text as intervals on one line of integers, and their unions.

A batch's documents are laid out one after another on that line, those of different questions
apart, so that what overlaps in text overlaps on the line and nothing else does. Every count of
characters is then a matter of sorting and searching whole arrays.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rayeval.columns import Ints, flatten

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Located:
    """Where things (passages, or evidence) lie, before they are laid out.

    place: (n_items,), code of the document of the row that an item lies in.
    spans: (n_items,), list of SPAN within that document.
    whole: (n_items,), items without spans that stand for a whole document of unknown length.
    """

    place: Ints
    spans: pa.Array
    whole: Bools


@dataclass(frozen=True)
class Intervals:
    """Pieces of items on the line, half-open, none empty; all arrays (n_pieces,).

    Pieces of different places never overlap or touch.
    """

    owner: Ints
    """The item that the piece belongs to."""
    place: Ints
    start: Ints
    end: Ints

    def take(self, index: Ints | Bools) -> Intervals:
        """Some of the pieces."""
        return Intervals(self.owner[index], self.place[index], self.start[index], self.end[index])

    def holding(self, owner: Ints, item: Ints, of_items: Intervals) -> Intervals:
        """With the pieces of items that some owners are known to hold, sorted by start.

        owner, item: (n_pairs,). of_items: the pieces of every item. Those of one owner that overlap
        are one: what it holds twice over, it holds once.
        """
        if not len(owner):
            return self
        order = np.argsort(of_items.owner, kind="stable")
        low, high = (
            np.searchsorted(of_items.owner[order], item, side=s) for s in ("left", "right")
        )
        pair = np.repeat(np.arange(len(item)), high - low)
        at = np.arange(len(pair)) - np.repeat(np.cumsum(high - low) - high, high - low)
        more = of_items.take(order[at])
        both = _joined(self, Intervals(owner[pair], more.place, more.start, more.end))
        return both._disjoint()

    def _disjoint(self) -> Intervals:
        """The union of every owner's pieces, sorted by start."""
        ordered = self.take(np.lexsort((self.start, self.owner)))
        step = ordered.owner * (int(ordered.end.max(initial=0)) + 1)
        union = Union.of(replace(ordered, start=ordered.start + step, end=ordered.end + step))
        first = np.searchsorted(ordered.start + step, union.start)
        kept = ordered.take(first)
        kept = replace(kept, end=union.end - step[first])
        return kept.take(np.argsort(kept.start, kind="stable"))


@dataclass(frozen=True)
class Union:
    """What some intervals cover together: disjoint segments in order, (n_segments,)."""

    start: Ints
    end: Ints
    owner: Ints
    """An item that covers the segment's first character."""
    before: Ints
    """(n_segments + 1,): characters covered before each segment, and in all."""

    @classmethod
    def of(cls, pieces: Intervals) -> Union:
        """The union of `pieces`, which are sorted by start."""
        reach = np.maximum.accumulate(pieces.end)
        opens = np.ones(len(reach), bool)
        opens[1:] = pieces.start[1:] > reach[:-1]
        first = np.flatnonzero(opens)
        last = np.append(first[1:], len(reach))[: len(first)] - 1
        start, end = pieces.start[first], reach[last]
        return cls(start, end, pieces.owner[first], np.append(0, np.cumsum(end - start)))

    def within(self, pieces: Intervals) -> Ints:
        """(n_pieces,): how many characters of every piece are covered."""
        return self._below(pieces.end) - self._below(pieces.start)

    def _below(self, at: Ints) -> Ints:
        """Covered characters before each point of the line."""
        if not len(self.start):
            return np.zeros(len(at), np.int64)
        segment = np.searchsorted(self.start, at, side="right")
        beyond = np.maximum(self.end[segment - 1] - at, 0)
        return self.before[segment] - np.where(segment > 0, beyond, 0)


@dataclass(frozen=True)
class Overlaps:
    """Pairs that share at least one character; all arrays (n_pairs,), sorted by (left, right)."""

    left: Ints
    right: Ints
    chars: Ints


def line_up(passages: Located, evidence: Located, needs: Located) -> tuple[Intervals, ...]:
    """The pieces of passages (sorted by start), evidence and needs on one line.

    A whole document of unknown length is its known characters and one more that stands for the
    rest: a whole passage covers all of it, whole evidence is that one character, so that only a
    whole passage covers it.
    """
    flat = [_pieces(located) for located in (passages, evidence, needs)]
    extent = np.zeros(_size(passages, evidence, needs), np.int64)
    for pieces in flat:
        np.maximum.at(extent, pieces.place, pieces.end)
    offset = np.cumsum(extent + 2) - (extent + 2)
    moved = [
        Intervals(p.owner, p.place, p.start + offset[p.place], p.end + offset[p.place])
        for p in flat
    ]
    rest = offset + extent
    first = _joined(moved[0], _whole(passages, offset, rest + 1))
    second = _joined(moved[1], _whole(evidence, rest, rest + 1))
    return first.take(np.argsort(first.start, kind="stable")), second, moved[2]


def overlaps(left: Intervals, right: Intervals) -> Overlaps:
    """Which items of `left` and `right` share text, and how many characters.

    The pieces of one item are disjoint, so their overlaps add up.
    """
    right = right.take(np.argsort(right.place, kind="stable"))
    low = np.searchsorted(right.place, left.place, side="left")
    counts = np.searchsorted(right.place, left.place, side="right") - low
    a = np.repeat(np.arange(len(counts)), counts)
    b = np.arange(len(a)) - np.repeat(np.cumsum(counts) - counts - low, counts)
    chars = np.minimum(left.end[a], right.end[b]) - np.maximum(left.start[a], right.start[b])
    shared = chars > 0  # a zero-length touch shares nothing
    a, b, chars = left.owner[a[shared]], right.owner[b[shared]], chars[shared]
    order = np.lexsort((b, a))
    a, b, chars = a[order], b[order], chars[order]
    first = np.flatnonzero(np.append(True, (a[1:] != a[:-1]) | (b[1:] != b[:-1]))[: len(a)])
    sums = np.add.reduceat(chars, first) if len(first) else chars
    return Overlaps(a[first], b[first], sums)


def least(length: Ints, share: float) -> Ints:
    """The fewest characters that are at least `share` of `length`, in whole numbers, never 0.

    The share is taken as it is written (0.8 is 8/10), so 8 of 10 characters are exactly enough.
    """
    exact = Fraction(str(share)).limit_denominator(1_000_000)
    return np.maximum(-(-length * exact.numerator // exact.denominator), 1)


def _pieces(located: Located) -> Intervals:
    owner, spans = flatten(located.spans)
    start = spans.field("start_char").to_numpy(zero_copy_only=False).astype(np.int64)
    end = spans.field("end_char").to_numpy(zero_copy_only=False).astype(np.int64)
    return Intervals(owner, located.place[owner], start, end)


def _size(*parts: Located) -> int:
    return 1 + max((int(part.place.max()) for part in parts if len(part.place)), default=-1)


def _whole(located: Located, start: Ints, end: Ints) -> Intervals:
    owner = np.flatnonzero(located.whole)
    place = located.place[owner]
    return Intervals(owner, place, start[place], end[place])


def _joined(a: Intervals, b: Intervals) -> Intervals:
    return Intervals(
        *(
            np.concatenate([getattr(a, name), getattr(b, name)])
            for name in ("owner", "place", "start", "end")
        )
    )
