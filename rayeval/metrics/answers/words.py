"""A text as words that can be compared: what the metrics without a model see of an answer.

In this order: NFC; case folded; marks of citations (`[E1]`, `[E1, E3]`) taken out; separators of
thousands taken out (1,000 = 1000) and Korean numerals written in digits (`korean.py`); brackets
become spaces (but for one that closes before Hangul: 서울(Seoul)은) and every other punctuation
mark or symbol goes, but a point between digits (3.5 is not 35); white space parts words, and so
does every character of Chinese and Japanese, which have none; particles come off Korean ones
(`korean.py`). The articles a, an and the are no words, unless the reference consists of nothing
else.
Source: for English the steps are SQuAD's, Rajpurkar et al. 2016, doi:10.18653/v1/D16-1264.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from rayeval.metrics.answers.korean import is_hangul, with_plain_numbers, without_particles

RULES = 2
"""Raised when a text comes out as other words."""
ARTICLES = frozenset({"a", "an", "the"})
MARKS = re.compile(r"\[e\d+(?:\s*,\s*e\d+)*\]")
_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?!,?\d)")
_POINT = re.compile(r"(?<=\d)\.(?=\d)")
_SPACELESS = re.compile(
    "([\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003347f])"
)
_UNIT = re.compile("[가-힣]|[^가-힣]+")
_CLOSED = re.compile(r"[)\]}](?=[가-힣])")


@lru_cache(maxsize=4096)
def words(text: str) -> tuple[str, ...]:
    """The words of `text`, in order, articles among them."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    plain = _THOUSANDS.sub(lambda found: found[0].replace(",", ""), MARKS.sub("", folded))
    numbered = _POINT.sub("\0", _CLOSED.sub("", with_plain_numbers(plain)))
    spaced = numbered.translate(_KEPT).replace("\0", ".")
    return tuple(map(without_particles, _SPACELESS.sub(r" \1 ", spaced).split()))


def units(found: Sequence[str]) -> list[str]:
    """What is counted of words: each whole, but Korean ones by syllable, so that spaces beside
    Hangul don't matter. Source: for Korean, KorQuAD 1.0's F1, Lim et al. 2019, arXiv:1909.07005.
    """
    return [unit for word in found for unit in _UNIT.findall(word)]


class _Kept(dict[int, str | int]):
    """What stands for each character: itself, a space or nothing."""

    def __missing__(self, code: int) -> str | int:
        category = unicodedata.category(chr(code))
        gone = "" if category[0] in "PS" or category == "Cf" else code
        self[code] = " " if category in ("Ps", "Pe") else gone
        return self[code]


_KEPT = _Kept()


def pair(answer: str, reference: str) -> tuple[Sequence[str], Sequence[str]]:
    """The words of both, without articles where the reference has other words too."""
    said, wanted = words(answer), words(reference)
    if set(wanted) <= ARTICLES:
        return said, wanted
    return [w for w in said if w not in ARTICLES], [w for w in wanted if w not in ARTICLES]


def closed_up(found: Sequence[str]) -> tuple[str, set[int]]:
    """The words as one text, and where in it words begin or end.

    Spaces beside Hangul are left out: 개인정보 보호법 and 개인정보보호법 are written by turns.
    """
    text, edges = "", {0}
    for word in found:
        if text and not (is_hangul(text[-1]) or is_hangul(word[0])):
            text += " "
            edges.add(len(text))
        text += word
        edges.add(len(text))
    return text, edges
