"""What TREC queries ask: topics in blocks of tags, or an id, a tab and the text a line."""

from __future__ import annotations

import re

from rayeval.errors import DataError, Problem
from rayeval.interop.trec.text import contents
from rayeval.interop.whole import decoded

_BLOCK = re.compile(r"<(top|doc)>(.*?)</\1>", re.IGNORECASE | re.DOTALL)
_ID = re.compile(r"<(num|docno)>\s*(?:Number:)?\s*([^<\s]+)\s*(?:</\1>)?", re.IGNORECASE)
_TITLE = re.compile(r"<title>\s*(?:Topic:)?(.*?)(?=<|\Z)", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^<>]*>")


def topics_in(path: str) -> bool:
    """Whether the file holds topics: it begins with a tag, or with a line of two columns."""
    data = contents(path)
    first = data[: data.find(b"\n") + 1 or len(data)]
    return first.lstrip().startswith(b"<") or first.count(b"\t") == 1


def read_topics(path: str) -> dict[str, str]:
    """Query id → its text.

    Raises DataError with what is no topic, or is there twice.
    """
    text = decoded(bytes(contents(path)), path, None)
    pairs = _blocks(text) if text.lstrip().startswith("<") else _lines(text)
    problems = []
    topics: dict[str, str] = {}
    for line, name, words in pairs:
        asked = " ".join(words.split())
        if not name or not asked:
            message = "a topic needs an id and a text: <num> and <title>, or two columns"
            problems.append(Problem(path, line, name or None, "malformed_topic", message))
        elif name in topics:
            message = "this topic is there before; keep one"
            problems.append(Problem(path, line, name, "duplicate_question_id", message))
        topics[name] = asked
    if problems:
        raise DataError(problems, foreign=True)
    return topics


def _blocks(text: str) -> list[tuple[int, str, str]]:
    """(line, id, text) of every block; without a title, the text is all that is not the id."""
    found = []
    for block in _BLOCK.finditer(text):
        line, inside = text.count("\n", 0, block.start()) + 1, block[2]
        number = _ID.search(inside)
        rest = inside[number.end() :] if number else inside
        title = _TITLE.search(rest)
        words = title[1] if title else _TAG.sub(" ", rest)
        found.append((line, number[2] if number else "", words))
    return found


def _lines(text: str) -> list[tuple[int, str, str]]:
    rows = [
        (line, row.rstrip("\r").partition("\t")) for line, row in enumerate(text.split("\n"), 1)
    ]
    return [(line, name.strip(), words) for line, (name, _, words) in rows if name.strip() or words]
