"""Front matter: what a document says about itself before its text begins."""

from __future__ import annotations

import re
from collections.abc import Mapping

import yaml

_FRONT = re.compile(
    r"\ufeff?---[ \t]*+(?:\r\n?+|\n)"
    r"(?P<yaml>(?:[^\r\n]*+(?:\r\n?+|\n))*?)"
    r"---[ \t]*+(?:\r\n?+|\n|\Z)"
)
# libyaml's loader is ten times faster; both give only strings, lists and mappings of them.
_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
_NULL = frozenset({"", "~", "null", "Null", "NULL"})


def front_matter(text: str) -> tuple[Mapping[str, object], int]:
    """What the fenced YAML at the start of `text` says, and how many characters it takes.

    Every value is a string or a list of strings as written, so that `revision_id: 1.10` stays
    1.10 and `language: no` stays no; null and empty values are left out. A fenced block that is
    YAML but no mapping is prose between two rules: text.
    Returns (fields, characters of U+FEFF and front matter, the closing fence's line included).
    Raises yaml.YAMLError for a block that isn't YAML.
    """
    bom = int(text.startswith("\ufeff"))
    block = _FRONT.match(text)
    if block is None:
        return {}, bom
    try:
        fields = yaml.load(block["yaml"], Loader=_LOADER)  # noqa: S506
    except RecursionError as error:
        raise yaml.YAMLError("nested too deeply") from error
    if fields is None:
        return {}, block.end()
    if not isinstance(fields, dict):
        return {}, bom
    told = {name: value for name, value in fields.items() if not _absent(value)}
    return told, block.end()


def text_start(text: str) -> int:
    """Characters of U+FEFF and front matter before the content; 0 where there are none."""
    try:
        return front_matter(text)[1]
    except yaml.YAMLError:
        return int(text.startswith("\ufeff"))


def line_of(text: str, field: str) -> int:
    """The 1-based line of the front matter on which `field` stands; 1 if it can't be told."""
    for number, line in enumerate(re.split(r"\r\n?|\n", text[:65536]), start=1):
        if line.startswith(field):
            return number
    return 1


def _absent(value: object) -> bool:
    return isinstance(value, str) and value in _NULL
