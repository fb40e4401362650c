"""Text as arrays of code points, and the classes of characters that cutting needs."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from rayeval.columns import Ints

Classes = npt.NDArray[np.uint8]
SPACE, WORD, ALONE, JOINED = range(4)


def classes(text: str) -> Classes:
    """The class of every character of `text`, (n_chars,).

    SPACE: white space. WORD: letters and digits. ALONE: a syllable or ideograph (a wide letter of
    East Asia, Hangul among them), and everything else. JOINED: combining marks, vowels and finals
    of decomposed Hangul, and format characters, which belong to what they follow.
    """
    codes = np.frombuffer(text.encode("utf-32-le"), dtype="<u4")
    found: Classes = _table()[codes]
    return found


@lru_cache(maxsize=1)
def _table() -> Classes:
    """By code point. What Unicode has not assigned (nearly all past plane 3) is ALONE."""
    table = np.full(0x110000, ALONE, dtype=np.uint8)
    for code in (*range(0x32400), *range(0xE0000, 0xE0200)):
        table[code] = _class(chr(code))
    return table


def _class(char: str) -> int:
    if char.isspace():
        return SPACE
    category = unicodedata.category(char)
    if category in ("Mn", "Mc", "Me", "Cf") or "\u1160" <= char <= "\u11ff":
        return JOINED
    if "\ud7b0" <= char <= "\ud7ff":
        return JOINED
    if category[0] in "LN":
        wide = category[0] == "L" and unicodedata.east_asian_width(char) in "WH"
        return ALONE if wide else WORD
    return ALONE


def word_starts(kinds: Classes) -> Ints:
    """Where runs of anything but white space begin."""
    filled = kinds != SPACE
    return np.flatnonzero(filled & ~np.concatenate(([False], filled[:-1])))


def token_starts(kinds: Classes) -> Ints:
    """Where tokens begin: runs of WORD with what is JOINED to them, and each ALONE."""
    before = np.concatenate(([SPACE], kinds[:-1])).astype(np.uint8)
    orphan = (kinds == JOINED) & (before == SPACE)
    kinds = np.where(orphan, WORD, kinds)
    places = np.arange(len(kinds))
    base = np.maximum.accumulate(np.where(kinds != JOINED, places, 0))
    carried = kinds[base] if len(kinds) else kinds
    before = np.concatenate(([SPACE], carried[:-1])).astype(np.uint8)
    return np.flatnonzero((kinds == ALONE) | ((kinds == WORD) & (before != WORD)))


class Filled:
    """Where a text's characters other than white space lie."""

    def __init__(self, kinds: Classes) -> None:
        n = len(kinds)
        places = np.arange(n)
        filled = kinds != SPACE
        self._behind = np.zeros(n + 1, dtype=np.int64)
        np.maximum.accumulate(np.where(filled, places + 1, 0), out=self._behind[1:])
        self._ahead = np.full(n + 1, n, dtype=np.int64)
        ahead = np.where(filled, places, n)[::-1]
        self._ahead[:-1] = np.minimum.accumulate(ahead)[::-1]

    def end(self, at: Ints) -> Ints:
        """The end of the last filled character before each place; 0 if there is none."""
        return self._behind[at]

    def start(self, at: Ints) -> Ints:
        """The first filled character at or after each place; the text's end if there is none."""
        return self._ahead[at]

    def end_at(self, place: int) -> int:
        """`end` of one place."""
        return int(self._behind[place])

    def start_at(self, place: int) -> int:
        """`start` of one place."""
        return int(self._ahead[place])
