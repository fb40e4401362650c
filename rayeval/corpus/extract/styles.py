"""What a DOCX paragraph is by its style: a heading of some level, an item of a list, or neither."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_HEADING = re.compile(r"heading (\d)", re.IGNORECASE)
_BODY = 9
"""The outline level of what is no heading."""
_MOST_BASES = 32


class Role(NamedTuple):
    """What a paragraph is."""

    level: int | None = None
    """Of a heading, from 1; 0 is the document's title."""
    is_item: bool = False

    def changed(self, properties: Any | None) -> Role:
        """The role after what a paragraph's (or a style's) own properties say."""
        if properties is None:
            return self
        level, is_item = self
        outline = properties.find(f"{_W}outlineLvl")
        if outline is not None:
            value = int(outline.get(f"{_W}val"))
            level = value + 1 if value < _BODY else None
        number = properties.find(f"{_W}numPr/{_W}numId")
        if number is not None:
            is_item = number.get(f"{_W}val") != "0"
        return Role(level, is_item)


def roles(styles: Any) -> dict[str | None, Role]:
    """The role of every paragraph style by its id; None: of a paragraph that names none."""
    nodes = {
        node.get(f"{_W}styleId"): node
        for node in styles.iter(f"{_W}style")
        if node.get(f"{_W}type", "paragraph") == "paragraph"
    }
    found: dict[str | None, Role] = {None: Role()}
    for name, node in nodes.items():
        role = Role()
        for base in reversed(_lineage(node, nodes)):
            role = _own(base, role)
        found[name] = role
        if node.get(f"{_W}default") in ("1", "true", "on"):
            found[None] = role
    return found


def _lineage(node: Any, nodes: dict[str, Any]) -> list[Any]:
    """A style and those that it is based on; a circle ends."""
    line = [node]
    while len(line) < _MOST_BASES:
        base = line[-1].find(f"{_W}basedOn")
        above = None if base is None else nodes.get(base.get(f"{_W}val"))
        if above is None:
            break
        line.append(above)
    return line


def _own(style: Any, role: Role) -> Role:
    """Built-in styles have English names in every language of Word."""
    title = style.find(f"{_W}name")
    name = "" if title is None else title.get(f"{_W}val", "")
    if match := _HEADING.fullmatch(name):
        role = role._replace(level=int(match[1]))
    elif name.lower() == "title":
        role = role._replace(level=0)
    return role.changed(style.find(f"{_W}pPr"))
