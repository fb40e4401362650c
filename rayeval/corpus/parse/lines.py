"""Where the lines of a source lie."""

from __future__ import annotations

import re
from dataclasses import dataclass

_LINE_END = re.compile(r"\r\n?|\n")


@dataclass(frozen=True)
class Lines:
    """The lines of a text: CRLF, CR or LF ends one, U+2028 or a form feed doesn't."""

    text: str
    starts: list[int]
    ends: list[int]
    """Without the line end."""

    @classmethod
    def of(cls, text: str) -> Lines:
        """Every line of `text`, an empty last one too."""
        breaks = [match.span() for match in _LINE_END.finditer(text)]
        return cls(text, [0, *(end for _, end in breaks)], [*(at for at, _ in breaks), len(text)])

    def span(self, first: int, stop: int) -> tuple[int, int]:
        """The characters of lines [first, stop) without white lines and the line end after them."""
        last = min(stop, len(self.starts)) - 1
        while last > first and self.is_white(last):
            last -= 1
        return self.starts[first], self.ends[last]

    def is_white(self, line: int) -> bool:
        """Whether the line has nothing but white space."""
        return not self.text[self.starts[line] : self.ends[line]].strip()
