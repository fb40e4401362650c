"""Refusals among the answers of other pipelines, which carry no marker (DESIGN §7).

Never for our own answers: those say by themselves that they abstain.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from pathlib import Path

PATTERNS = Path(__file__).with_name("refusals.txt")
_AROUND = " \t\n\"'`*“”‘’«».!…。"


def refuses(answer: str) -> bool:
    """Whether the whole answer says nothing but that there is none, in English or Korean."""
    return _pattern().fullmatch(_plain(answer)) is not None


def _plain(answer: str) -> str:
    text = unicodedata.normalize("NFC", answer).replace("’", "'").casefold()
    return " ".join(text.split()).strip(_AROUND)


@cache
def _pattern() -> re.Pattern[str]:
    """Every line of the file as one expression; `{name} = …` is put in where `{name}` stands."""
    parts: dict[str, str] = {}
    lines: list[str] = []
    for line in PATTERNS.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        for name, part in parts.items():
            line = line.replace(name, part)  # noqa: PLW2901 - the line with its parts
        name, defines, part = line.partition(" = ")
        if defines:
            parts[name] = part
        else:
            lines.append(line)
    return re.compile("|".join(f"(?:{line})" for line in lines))
