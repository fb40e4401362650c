"""What a reference answer still says though its evidence no longer does."""

from __future__ import annotations

import re

from rayeval.golden.anchor import normal

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")
"""Numbers stand apart from what is written behind them: 70%를, 60days."""


def stale(old: str, new: str, answer: str | None) -> list[str]:
    """The words and numbers of `old` that `new` has no more and the answer still has, in order."""
    if answer is None:
        return []
    words = [_WORD.findall(normal(text)) for text in (old, new, answer)]
    now, said = ({word.casefold() for word in part} for part in words[1:])
    found = (word for word in words[0] if word.casefold() in said - now)
    return list(dict.fromkeys(found))
