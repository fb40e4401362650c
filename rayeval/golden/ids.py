"""Which question a record is of, as far as that can be told."""

from __future__ import annotations

import json
import re
from typing import Any

from rayeval.golden import contract
from rayeval.golden.text import LONE
from rayeval.ids import made_question_id

_NAMED = re.compile(r'"question_id"\s*:\s*("(?:[^"\\]|\\.)*")')


def id_of(value: Any) -> str | None:
    """A record's own id, else one made of its question's text."""
    if not isinstance(value, dict):
        return None
    named, question = contract.named(value.get("question_id")), value.get("question")
    if isinstance(named, str):
        return _storable(named)
    if named is not None or not isinstance(question, str) or LONE.search(question):
        return None
    return made_question_id(question)


def id_in(line: bytes) -> str | None:
    """The id that a line of JSON states, where the line as a whole can't be read.

    Within JSON text a quotation mark has a backslash before it, so what looks like the field is it.
    """
    found = _NAMED.search(line.decode(errors="surrogateescape"))
    if found is None:
        return None
    try:
        return _storable(json.loads(found[1]))
    except ValueError:
        return None


def _storable(name: str) -> str | None:
    """The name, unless it is empty or no text itself."""
    return None if LONE.search(name) else name or None
