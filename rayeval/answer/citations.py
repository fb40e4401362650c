"""Citations in an answer: `[E1]`, `[E1][E3]` or `[E1, E3]`.

A citation is a mark in square brackets, or several with a comma between them and at most one space
after it; a mark is a capital E and ASCII digits. Nothing else is a citation: not `E1`, `[e1]`,
`[1]`, `[E1; E2]` or `[E1-E3]`. `[E01]` is one, and names no evidence, as `[E9]` beyond the last.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_MARK = "E[0-9]+"
_CITED = re.compile(rf"\[({_MARK}(?:, ?{_MARK})*)\]")


def mark(number: int) -> str:
    """How the piece of evidence with this number, from 1, is called."""
    return f"E{number}"


def marks(answer: str) -> list[str]:
    """The marks that an answer cites, in order of first use, each once."""
    cited = (one for found in _CITED.findall(answer) for one in found.replace(" ", "").split(","))
    return list(dict.fromkeys(cited))


def any_marks(answers: pa.Array) -> bool:
    """Whether some of the answers cites a mark."""
    return bool(pc.any(pc.match_substring_regex(answers, _CITED.pattern)).as_py())


def citations(cited: Iterable[str], context: Sequence[str]) -> list[dict[str, Any]]:
    """Rows of CITATION: the chunk that each mark names, null where there is none such.

    context: chunk ids as handed over, the first being E1.
    """
    named = {mark(number): chunk for number, chunk in enumerate(context, start=1)}
    return [{"mark": one, "chunk_id": named.get(one)} for one in cited]
