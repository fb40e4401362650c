"""The measure of a chunk: characters, words or tokens."""

from __future__ import annotations

from bisect import bisect_left

from rayeval.columns import Ints


class Units:
    """Where the units of a text begin.

    n_chars: the text's length. starts: ascending; None where each character is a unit.
    """

    def __init__(self, n_chars: int, starts: Ints | None) -> None:
        self.n_chars = n_chars
        self.starts = starts
        self._list: list[int] | None = None if starts is None else starts.tolist()

    def forth(self, start: int, count: int) -> int:
        """The furthest end of a span from `start` in which no more than `count` units begin."""
        if self._list is None:
            return start + count
        last = bisect_left(self._list, start) + count
        # Units can begin at one character (tokens of an emoji), yet a span has at least one.
        return max(start + 1, self._list[last]) if last < len(self._list) else self.n_chars

    def back(self, end: int, count: int) -> int:
        """The earliest start of a span up to `end` in which no more than `count` units begin."""
        if self._list is None:
            return max(0, end - count)
        last = bisect_left(self._list, end) - count - 1
        return self._list[last] + 1 if last >= 0 else 0
