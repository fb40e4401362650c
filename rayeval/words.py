"""Words for numbers of things, the same in every message."""

from __future__ import annotations

import math


def plural(count: int, noun: str, several: str | None = None) -> str:
    """`count` of what `noun` names: `1 question`, `1,234 questions`.

    several: the noun's plural where that is not the noun and an s (`1 query`, `2 queries`).
    """
    return f"{count:,} {noun if count == 1 else several or f'{noun}s'}"


def verb(count: int, one: str, several: str) -> str:
    """Which form goes with `count` things: `is` or `are`."""
    return one if count == 1 else several


def blank(text: str) -> bool:
    """Whether nothing in `text` is to be seen: white space, controls, characters without width."""
    return not any(one.isprintable() and not one.isspace() for one in text)


def percent(share: float) -> str:
    """A share in whole percent, halves upwards: 3 of 24 is 13%. NaN is a dash.

    A quotient of whole numbers that is a half in truth is taken for one, though its float is less.
    """
    return "–" if math.isnan(share) else f"{math.floor(round(100 * share, 9) + 0.5)}%"
