"""Questions that ask nearly the same."""

from __future__ import annotations

import re
import unicodedata

import polars as pl

NEAR = 0.6
"""Share of common character pairs (Dice) from which two questions are worth a second look."""

_NO_WORD = re.compile(r"[\W_]+")


def near(question: str, others: pl.DataFrame, *, most: int = 3) -> pl.DataFrame:
    """The rows of `others` whose questions are most like `question`, the nearest first.

    others: has `question_id` and `question`.
    Returns them with `similarity` in [NEAR, 1]: twice the common pairs of neighbouring characters
    over all pairs, each counted once, without case, signs and white space.
    Source: Dice 1945, doi:10.2307/1932409, on sets of character pairs.
    """
    mine = _pairs(question)
    texts = others["question"].to_list()
    shares = [_dice(mine, _pairs(text)) for text in texts]
    found = others.with_columns(similarity=pl.Series(shares, dtype=pl.Float64))
    found = found.filter(pl.col("similarity") >= NEAR)
    return found.sort("similarity", "question_id", descending=[True, False]).head(most)


def _pairs(text: str) -> frozenset[str]:
    """Two neighbouring characters each; a text of one is that one."""
    plain = _NO_WORD.sub("", unicodedata.normalize("NFKC", text).casefold())
    return frozenset(plain[i : i + 2] for i in range(max(1, len(plain) - 1)))


def _dice(one: frozenset[str], other: frozenset[str]) -> float:
    return 2 * len(one & other) / (len(one) + len(other))
