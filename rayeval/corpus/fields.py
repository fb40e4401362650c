"""One document's fields, checked: what stands in a row of JSON, Parquet or front matter."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import lru_cache
from typing import Any

from rayeval.corpus.dates import instant
from rayeval.corpus.front import line_of, text_start
from rayeval.errors import Problem

NAMES = (
    "source_id",
    "revision_id",
    "text",
    "format",
    "language",
    "title",
    "url",
    "valid_from",
    "valid_to",
    "deleted_at",
    "access",
)
_WORDS = ("source_id", "revision_id", "format", "language", "title", "url")
DATES = ("valid_from", "valid_to", "deleted_at")
FRONT_MATTER = tuple(name for name in NAMES if name != "text")
_FORMATS = ("markdown", "text", "html")
_SHORT = {"md": "markdown", "txt": "text", "htm": "html"}
"""What people also call the formats: the extensions of their files."""

Row = dict[str, Any]


@dataclass
class Findings:
    """What is wrong with one document, and where it stands."""

    file: str
    line: int | None = None
    front: str = ""
    """The text whose front matter the fields come from, to tell their lines."""
    problems: list[Problem] = field(default_factory=list)

    def add(self, kind: str, message: str, *, name: str = "", warning: bool = False) -> None:
        """Notes a problem, of the field `name`; it keeps the document out unless a warning."""
        line = line_of(self.front, name) if self.front and name else self.line
        self.problems.append(Problem(self.file, line, None, kind, message, warning=warning))

    @property
    def fatal(self) -> bool:
        """Whether the document is kept out."""
        return any(not problem.warning for problem in self.problems)


def document(raw: Mapping[str, object], found: Findings, *, start: int | None = None) -> Row | None:
    """A row of DOCUMENTS from the fields that were given; None where something is wrong.

    raw: by name, null being the same as absent. Unknown names are left to the caller.
    start: where the content begins in the text, if that is known already.
    Problems go to `found`, all of them.
    """
    row: Row = {name: _string(raw.get(name), name, found) or None for name in _WORDS}
    row |= {name: _date(raw.get(name), name, found) for name in DATES}
    row |= {"text": _string(raw.get("text"), "text", found), "access": _access(raw, found)}
    if raw.get("source_id") in (None, ""):
        found.add("missing_field", "source_id is missing or empty: name the source")
    if raw.get("text") is None and raw.get("deleted_at") in (None, ""):
        found.add("missing_field", "text is missing; a source that is gone has deleted_at instead")
    row["format"] = _SHORT.get(row["format"], row["format"])
    if row["format"] not in (None, *_FORMATS):
        known = " or ".join(_FORMATS)
        found.add("unknown_format", f"format is {row['format']!r}, expected {known}", name="format")
    return None if found.fatal else _completed(row, found, start)


def unknown(name: str) -> str:
    """What to say of a field that isn't one of ours."""
    near = nearest(name, NAMES, cutoff=0.6)
    hint = f"did you mean {near!r}?" if near else f"the fields are {', '.join(NAMES)}"
    return f"{name!r} is no field of a document; {hint}"


@lru_cache(maxsize=4096)
def nearest(name: str, known: tuple[str, ...], *, cutoff: float) -> str | None:
    """The known name that `name` is most like, if it is like any."""
    return next(iter(difflib.get_close_matches(name, known, n=1, cutoff=cutoff)), None)


def _completed(row: Row, found: Findings, start: int | None) -> Row:
    text = row["text"]
    row["format"] = row["format"] or "text"
    row["text_start"] = text_start(text or "") if start is None else start
    if row["revision_id"] is None:
        row["revision_id"] = (
            f"deleted-{row['deleted_at']:%Y-%m-%dT%H:%M:%SZ}"
            if text is None
            else "sha-" + hashlib.sha256(text.encode()).hexdigest()[:12]
        )
    if text is not None and "\0" in text:
        found.add(
            "nul_character",
            f"the text has {text.count(chr(0))} NUL characters, the first at character "
            f"{text.index(chr(0))}; they are kept, yet few tools expect them",
            warning=True,
        )
    return {**row, "file": found.file, "line": found.line}


def _date(value: object, name: str, found: Findings) -> datetime | None:
    if value is None or value == "":
        return None
    if not isinstance(value, str | date):
        _wrong(name, value, "a date such as 2026-08-01", found)
        return None
    try:
        return instant(value)
    except ValueError:
        message = f"{name} is {value!r}, expected ISO 8601 such as 2026-08-01"
        found.add("bad_date", message, name=name)
        return None


def _access(raw: Mapping[str, object], found: Findings) -> list[str]:
    """Sorted and unique; empty means everyone."""
    value = raw.get("access")
    if value is None:
        return []
    if not isinstance(value, list):
        _wrong("access", value, "a list of who may read it, e.g. [hr, legal]", found)
        return []
    names = [_string(item, f"access[{i}]", found) for i, item in enumerate(value)]
    if not all(names):
        found.add("wrong_type", "access has an empty entry, expected names", name="access")
    return sorted({name for name in names if name})


def _string(value: object, name: str, found: Findings) -> str | None:
    if isinstance(value, str):
        return _encodable(value, name, found)
    if value is not None:
        _wrong(name, value, "a string", found)
    return None


def _encodable(value: str, name: str, found: Findings) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        found.add(
            "lone_surrogate",
            f"{name} has half a surrogate pair, U+{ord(value[error.start]):04X}, at character "
            f"{error.start}; expected whole characters: write the pair, or \\ufffd",
            name=name,
        )
    return value


def _wrong(name: str, value: object, expected: str, found: Findings) -> None:
    """Notes a value of the wrong kind."""
    kinds: list[tuple[type, str]] = [
        (bool, "true or false"),
        (int, "a number"),
        (float, "a number"),
        (str, "a string"),
        (list, "a list"),
        (Mapping, "an object"),
    ]
    kind = next((words for type_, words in kinds if isinstance(value, type_)), type(value).__name__)
    found.add("wrong_type", f"{name} is {kind}, expected {expected}", name=name)
