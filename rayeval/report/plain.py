"""Text for a terminal."""

from __future__ import annotations

from rich.cells import cell_len, set_cell_size

_SHOWN = {code: 0x2400 + code for code in range(0x20) if code != ord("\n")}
_SHOWN |= {0x7F: 0x2421, **dict.fromkeys(range(0x80, 0xA0), 0xFFFD)}
"""Control characters by their pictures (␛ for escape); those beyond ASCII have none."""


def printable(text: str) -> str:
    """`text` without what a terminal obeys: a document's escape sequences are shown, not done."""
    return text.translate(_SHOWN)


def shortened(text: str, most: int = 80) -> str:
    """One line of at most `most` columns; a Korean character takes two."""
    line = " ".join(text.split())
    return line if cell_len(line) <= most else set_cell_size(line, most - 1).rstrip() + "…"
