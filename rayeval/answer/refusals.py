"""Refusals among the answers of other pipelines, which carry no marker (DESIGN §7).

Never for our own answers: those say by themselves that they abstain.

A refusal says nothing else (`refusals.txt`). An answer may also *begin* like one, with a sentence
that refuses, or that says what the documents lack (`explanations.txt`). If every other sentence
does so too, it is a refusal that explains itself; else it may go on to answer.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

PATTERNS = Path(__file__).with_name("refusals.txt")
EXPLANATIONS = Path(__file__).with_name("explanations.txt")
_AROUND = " \t\n\"'`*“”‘’«».!…。"
_ENDS = re.compile(r"(?<=[.!?…。])[\"'”’*]*\s+|\s*\n\s*")
_SORRY = re.compile(
    "(?:(?:i'm|i am) (?:very |so )?sorry|sorry|i apologi[sz]e|my apologies|"
    "죄송합니다|죄송해요|미안합니다|죄송하지만|안타깝게도)"
)
_THUS = re.compile("(?:therefore|thus|so|hence|따라서|그러므로|그래서),? ")
OPENS = "! "
"""Before a line of the file: the sentence may open an answer."""

Counted = Literal["whole", "explained"]
"""Which answers are refusals: those that say nothing else; those too that explain themselves."""


def refuses(answer: str) -> bool:
    """Whether the whole answer says nothing but that there is none, in English or Korean."""
    return _Patterns.load().refusal.fullmatch(_plain(answer)) is not None


def begins(answer: str) -> bool:
    """Whether its first sentence refuses, or says what the documents lack."""
    known, first = _Patterns.load(), next(iter(_sentences(answer)), "")
    return any(one.fullmatch(first) for one in (known.refusal, known.opening))


def explains(answer: str) -> bool:
    """Whether it begins so, and each of its other sentences is of this kind too."""
    known, parts = _Patterns.load(), _sentences(answer)
    kinds = (known.refusal, known.opening, known.explanation)
    rest = [_THUS.sub("", part, count=1) if _THUS.match(part) else part for part in parts[1:]]
    return begins(answer) and all(any(one.fullmatch(part) for one in kinds) for part in rest)


def _sentences(answer: str) -> list[str]:
    """Each as it is compared; without apologies."""
    parts = [_plain(part) for part in _ENDS.split(answer.strip())]
    return [part for part in parts if part and not _SORRY.fullmatch(part)]


def _plain(answer: str) -> str:
    text = unicodedata.normalize("NFC", answer).replace("’", "'").casefold()
    return " ".join(text.split()).strip(_AROUND)


@dataclass(frozen=True)
class _Patterns:
    """The lines of both files, each kind as one expression."""

    refusal: re.Pattern[str]
    opening: re.Pattern[str]
    explanation: re.Pattern[str]

    @classmethod
    @cache
    def load(cls) -> _Patterns:
        parts: dict[str, str] = {}
        refusals, more = _lines(PATTERNS, parts), _lines(EXPLANATIONS, parts)
        opening = [line.removeprefix(OPENS) for line in more if line.startswith(OPENS)]
        rest = [line for line in more if not line.startswith(OPENS)]
        return cls(*(_any(lines) for lines in (refusals, opening, rest)))


def _lines(path: Path, parts: dict[str, str]) -> list[str]:
    """The file's lines; where `{name}` stands, what `{name} = …` says is put in.

    parts: what such lines said so far; those of this file are added.
    """
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, defines, part = line.partition(" = ")
            text = part if defines else line
            for other, value in parts.items():
                text = text.replace(other, value)
            if defines:
                parts[name] = text
            else:
                lines.append(text)
    return lines


def _any(lines: list[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{line})" for line in lines))
