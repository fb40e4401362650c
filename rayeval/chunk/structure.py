"""Sections filled up with whole blocks, cut only where they must be."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

import numpy as np

from rayeval.chunk.boundaries import Boundaries
from rayeval.chunk.characters import Filled
from rayeval.chunk.units import Units
from rayeval.columns import Ints

Span = tuple[int, int]


def spans(
    units: Units, filled: Filled, bounds: Boundaries, *, size: int, overlap: int
) -> tuple[Ints, Ints]:
    """Where the chunks of a text lie, in characters.

    A chunk holds as many blocks of one section as fit into `size` units. A block that is too large
    alone is cut at rows, items, lines of code, sentences, white space, or anywhere, in this order
    of preference; what is left of it goes on with the blocks that follow. A heading is never
    parted from what follows it, unless it fills a chunk alone; a table row is never cut, even if
    it is longer than `size`. A chunk repeats the last blocks, or sentences, of the one before it
    in its section that fit into `overlap`. White space at a chunk's end isn't counted.

    Returns (starts, ends), ascending in both.
    """
    cutter = _Cutter(units, filled, bounds, size=size, overlap=overlap)
    stops = [*bounds.sections[1:].tolist(), units.n_chars]
    found = [
        span
        for section in zip(bounds.sections.tolist(), bounds.bodies.tolist(), stops, strict=True)
        for span in cutter.section(*section)
    ]
    table = np.array(found, dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


class _Cutter:
    """The places at which one document may be cut, ready to be searched."""

    def __init__(
        self, units: Units, filled: Filled, bounds: Boundaries, *, size: int, overlap: int
    ) -> None:
        self._units = units
        self._size, self._overlap = size, overlap
        self._filled = filled
        self._levels: list[tuple[list[int], list[int]]] = [
            (cuts.tolist(), filled.end(cuts).tolist()) for cuts in bounds.levels
        ]
        self._coarse: list[int] = np.unique(np.concatenate(bounds.levels[:-1])).tolist()
        self._rows = bounds.rows[0].tolist(), bounds.rows[1].tolist()

    def section(self, start: int, body: int, stop: int) -> Iterator[Span]:
        """The chunks of one section, whose first body begins at `body`."""
        at = start
        after = body if body < self._units.forth(start, self._size) else start
        while at < stop:
            cut = self._best(at, after, stop) or self._past_row(at, stop)
            if cut is not None:
                yield at, self._filled.end_at(cut)
                at, after = self._repeated(at, cut, stop), cut
            elif at < after:
                after = at  # no visible part of the body fits beside its heading
            else:
                at = after = self._filled.start_at(at)  # nor beside so much indentation

    def _best(self, at: int, after: int, stop: int) -> int | None:
        """Where to cut the chunk from `at`, to hold no more than `size` but something past `after`.

        None if there is no such place.
        """
        limit = self._units.forth(at, self._size)
        if self._filled.end_at(stop) <= limit:
            return stop
        for cuts, ends in self._levels:
            last = bisect_right(ends, limit) - 1
            if last >= 0 and ends[last] > after:
                return cuts[last]
        return (
            limit if self._filled.end_at(limit) > after and self._row_end(limit) is None else None
        )

    def _past_row(self, at: int, stop: int) -> int | None:
        """The first cut after the row in which the chunk from `at` is full, if it is in one."""
        end = self._row_end(self._units.forth(at, self._size))
        if end is None:
            return None
        places = [(cuts, bisect_left(cuts, end)) for cuts, _ in self._levels]
        return min([stop, *(cuts[place] for cuts, place in places if place < len(cuts))])

    def _repeated(self, at: int, done: int, stop: int) -> int:
        """Where the next chunk begins: at `done`, or before it by as much as `overlap` takes in."""
        if done == stop:
            return stop
        end = self._filled.end_at(done)
        first = bisect_left(self._coarse, max(self._units.back(end, self._overlap), at + 1))
        if first < len(self._coarse) and self._coarse[first] < done:
            place = self._coarse[first]
            if self._best(place, done, stop) is not None:
                return place
        return done

    def _row_end(self, place: int) -> int | None:
        """The end of the table row in which `place` lies, if it does."""
        starts, ends = self._rows
        row = bisect_left(starts, place) - 1
        return int(ends[row]) if row >= 0 and place < ends[row] else None
