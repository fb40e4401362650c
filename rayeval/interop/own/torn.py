"""Lines that the recorder began and did not end: its process was killed, or the disk was full."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pydantic_core import from_json

from rayeval.words import plural

BEGINNING = (rb'{"question_id": "', rb'", "stages": {')
"""How the recorder begins a line, before and after the question's id."""
ID = re.compile(re.escape(BEGINNING[0]) + rb'(?:[^"\\]|\\.)*(.*)', re.DOTALL)
SHOWN = 3


def is_torn(line: bytes) -> bool:
    """Whether a line that can't be read is the beginning of one of the recorder's.

    The recorder ends such a line by a line break before it goes on.
    """
    text = line.rstrip(b"\r\n")
    after = ID.match(text)
    if after is None:
        return BEGINNING[0].startswith(text)
    rest = after[1]
    if rest != b"\\" and not rest.startswith(BEGINNING[1]) and not BEGINNING[1].startswith(rest):
        return False
    try:
        from_json(text)
    except ValueError as error:
        return str(error).startswith("EOF")
    return False


def torn_note(places: Sequence[str]) -> str:
    """What is to be said of the lines at `places`."""
    named = ", ".join(places[:SHOWN]) + (", …" if len(places) > SHOWN else "")
    one = len(places) == 1
    return (
        f"{plural(len(places), 'line')} of the trace {'ends' if one else 'end'} in the middle, as "
        "where the process that wrote it was killed or the disk was full, and "
        f"{'counts' if one else 'count'} as not written: {named}"
    )
