"""Plain text: paragraphs between empty lines."""

from __future__ import annotations

from itertools import groupby

from rayeval.corpus.parse.element import Element, Names
from rayeval.corpus.parse.lines import Lines


def elements(text: str, start: int) -> list[Element]:
    """The paragraphs of `text` from character `start` on; white lines separate them."""
    lines = Lines.of(text[start:])
    names = Names()
    found = []
    for is_white, run in groupby(range(len(lines.starts)), lines.is_white):
        if not is_white:
            first, *rest = run
            begin, end = lines.span(first, (rest or [first])[-1] + 1)
            name = names.next("paragraph")
            found.append(Element(name, "paragraph", start + begin, start + end, ()))
    return found
