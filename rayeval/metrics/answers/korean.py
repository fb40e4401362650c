"""Korean particles and numerals, by rule: what words of a reference and of an answer differ in.

Both texts go through the same rules, so a name that ends like a particle still equals itself:
고양이 becomes 고양 wherever it stands, and so does 고양이는.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

# fmt: off
ANY = ("의", "에", "에서", "에게", "에게서", "께서", "부터", "까지", "입니다", "였습니다", "였다",
       "이다", "이었다", "이었습니다", "이고", "이며", "이라고", "이라는", "이지만", "이므로")
AFTER_CONSONANT = ("은", "이", "을", "과", "이에요")
AFTER_VOWEL = ("는", "가", "를", "와", "다", "예요", "라고", "라는")
# fmt: on
PARTICLES = sorted((*ANY, *AFTER_CONSONANT, *AFTER_VOWEL, "으로", "로"), key=len, reverse=True)
"""What is taken off the end of a word, the longest first; 도, 만 and 들 end too many nouns."""
_ENDS = tuple(PARTICLES)
FEWEST = 2
"""Syllables that must be left of a word before a particle of one syllable: 회의, 결과 stay."""
_RIEUL = 8

SMALL = {"십": 10, "백": 100, "천": 1000, "": 1}
LARGE = {"만": 10**4, "억": 10**8, "": 1}
_TERM = re.compile(r"(\d+(?:\.\d+)?)([십백천]?)([만억]?)")
_RUN = re.compile(
    r"\d+(?:\.\d+)?(?:[십백천][만억]?|[만억])"
    r"(?:\d+(?:\.\d+)?[십백천]?[만억]?|\s\d+(?:\.\d+)?(?:[십백천][만억]?|[만억]))*"
)


def without_particles(word: str) -> str:
    """`word` without the particles and copulas at its end: 서울에서는 → 서울, 3월까지 → 3월.

    One comes off where the syllable before it allows it (은 after a consonant, 는 after a vowel, …)
    and something of the word is left; then the next.
    """
    while word.endswith(_ENDS) and (shorter := _shorter(word)) is not None:
        word = shorter
    return word


def _shorter(word: str) -> str | None:
    for particle in PARTICLES:
        stem = word.removesuffix(particle)
        if stem in ("", word) or not _fits(stem[-1], particle):
            continue
        if len(particle) > 1 or len(stem) >= FEWEST or not is_hangul(stem[-1]):
            return stem
    return None


def _fits(last: str, particle: str) -> bool:
    """Whether a particle can follow a syllable; how a digit or a letter is read isn't known."""
    if not is_hangul(last):
        return last.isalnum()
    final = (ord(last) - 0xAC00) % 28
    if particle in AFTER_CONSONANT:
        return final != 0
    if particle in AFTER_VOWEL:
        return final == 0
    if particle == "으로":
        return final not in (0, _RIEUL)
    return final in (0, _RIEUL) if particle == "로" else True


def is_hangul(character: str) -> bool:
    """Whether it is a syllable of Hangul."""
    return "가" <= character <= "힣"


def with_plain_numbers(text: str) -> str:
    """Numbers with 십, 백, 천, 만 and 억 in digits: 3만 5천원 → 35000원, 1.5억 → 150000000.

    Every part begins with a digit, and parts descend: 5만 3만 stays two numbers, and 수천 or 3월
    as it is. After a space only digits with a unit of their own belong to it: 3만 2020년 are two
    numbers.
    """
    return _RUN.sub(lambda run: " ".join(map(_plain, _numbers(run[0]))), text)


def _numbers(run: str) -> Iterator[Decimal]:
    """The numbers in a run of parts."""
    total = section = Decimal(0)
    large, small = 10**12, 10**4
    for number, unit, myriads in _TERM.findall(run):
        if SMALL[unit] >= small:
            yield total + section
            total = section = Decimal(0)
            large, small = 10**12, 10**4
        section += Decimal(number) * SMALL[unit]
        small = SMALL[unit]
        if myriads and LARGE[myriads] < large:
            total, section = total + section * LARGE[myriads], Decimal(0)
            large, small = LARGE[myriads], 10**4
        elif myriads:
            yield total
            total, section = section * LARGE[myriads], Decimal(0)
            large, small = LARGE[myriads], 10**4
    yield total + section


def _plain(number: Decimal) -> str:
    """Without an exponent, and without zeros after the point."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
