"""The text that a reader of HTML sees, and where in the source it comes from."""

from __future__ import annotations

from rayeval.corpus.parse.element import Piece

_RANK = {"": 0, " ": 1, "\t": 2, "\n": 3}


class Visible:
    """Visible text as it grows, with the source ranges of its characters.

    White space waits until something visible follows, so that it never stands at either end of a
    block; a separator's piece is whatever source lies between its neighbours.
    """

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self.length = 0
        self._parts: list[str] = []
        self._separator = ""
        self._held: list[tuple[int, int, str]] = []
        self._end = 0

    def separate(self, by: str) -> None:
        """What follows stands apart: by a space, by a tab (cells) or by a new line (blocks)."""
        self._separator = max(self._separator, by, key=_RANK.__getitem__)
        if by == "\n":
            self._held.clear()

    def hold(self, start: int, end: int, white: str) -> None:
        """White space that is kept as it is if something follows in its block."""
        self._held.append((start, end, white))

    def settle(self, start: int) -> None:
        """Puts down the white space before what is visible at source character `start`."""
        if self._held:
            for held in self._held:
                self.add(*held)
        elif self._separator and self.length:
            self.add(self._end, start, self._separator)
        self._held.clear()
        self._separator = ""

    def add(self, start: int, end: int, text: str, *, fresh: bool = False) -> None:
        """Source characters [start, end) show as `text`.

        fresh: begin a piece, even where this goes on from the last one.
        """
        last = self.pieces[-1] if self.pieces else (0, 0, 1)
        follows = last[1] == start and last[1] - last[0] == last[2] and end - start == len(text)
        if follows and not fresh:
            self.pieces[-1] = (last[0], end, last[2] + len(text))
        else:
            self.pieces.append((start, end, len(text)))
        self._parts.append(text)
        self.length += len(text)
        self._end = end

    def text(self) -> str:
        """All of it."""
        return "".join(self._parts)
