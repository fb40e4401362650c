"""Messages in lines of 100 columns, and the one place where they go to stderr."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from rich.cells import cell_len

from rayeval.report.plain import printable

WIDTH = 100
INDENT = "  "
"""Before what goes on with a line."""
_PLACE = re.compile(r"(?:rayeval: |warning {2}|problem {2}|note {2})?(?:(?!: )[^`\"])+?(?= \w+: )")
"""What a line begins with where it tells of a problem: file, line and question, before its kind."""
_WHOLE = r"""
    `[^`]*`                                 # a command, or a name
  | (?<!\w)'(?:[^']|(?<=\w)'(?=\w))*'(?!\w)  # a quoted path or id; can't is no end of it
  | (?<!\w)"[^"]*"(?!\w)
  | pip\ install\ '[^']*'
  | (?<!\w)\[[^\[\]]*\]                     # the id of a question
"""
_UNIT = re.compile(rf"(?:{_WHOLE}|\S)+", re.VERBOSE)


def tell(text: str) -> None:
    """A message for people, on stderr."""
    print(wrapped(text), file=sys.stderr)  # noqa: T201


def wrapped(text: str, width: int = WIDTH) -> str:
    """`text` with no line of more than `width` columns that can be broken.

    Broken are lines at blanks, and go on indented below; a file and its line, an id in brackets,
    and what stands in quotation marks or backticks stay whole. Shorter lines stay as they are.
    """
    return "\n".join(part for line in printable(text).split("\n") for part in _lines(line, width))


def _lines(line: str, width: int) -> Iterator[str]:
    if cell_len(line) <= width:
        yield line
        return
    indent = line[: len(line) - len(line.lstrip())] + INDENT
    done, end = "", 0
    for start, stop in _units(line, width - cell_len(indent)):
        longer = done + line[end:start] + line[start:stop]
        if done.strip() and cell_len(longer) > width:
            yield done
            longer = indent + line[start:stop]
        done, end = longer, stop
    yield done


def _units(line: str, width: int) -> Iterator[tuple[int, int]]:
    """Where what is not to be broken begins and ends; longer than `width`, only commands aren't."""
    place = _PLACE.match(line)
    at = 0
    if place and _names_a_place(place[0]):
        yield place.span()
        at = place.end()
    for unit in _UNIT.finditer(line, at):
        if cell_len(unit[0]) <= width or unit[0].startswith("`"):
            yield unit.span()
        else:
            yield from (word.span() for word in re.compile(r"\S+").finditer(line, *unit.span()))


def _names_a_place(text: str) -> bool:
    """Whether it is no prose: a file's name, with its line or not."""
    return re.search(r"/|\.\w|:\d", text) is not None
