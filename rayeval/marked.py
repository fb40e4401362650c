"""What stands for the user's files in what is kept under the hash of their contents.

The same contents may lie at another path tomorrow, and what is wrong with them is then wrong there.
So the store never holds a path of the user's: marks stand for them, and whoever reads a problem
puts in what the files are called by whoever asks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from rayeval.errors import Problem

GOLDEN, TRACE, CORPUS, WITHIN = (f"\0{name}\0" for name in ("golden", "trace", "corpus", "within"))
"""No path holds a NUL character. WITHIN: what stands before the names of a corpus's files."""
Names = Mapping[str, str]
"""Mark → what it stands for."""


def named(text: str, names: Names) -> str:
    """The text with what its marks stand for."""
    for mark, name in names.items():
        text = text.replace(mark, name)
    return text


def named_problems(problems: Iterable[Problem], names: Names) -> list[Problem]:
    """As `named`, of what problems say and where."""
    return [
        replace(one, file=named(one.file, names), message=named(one.message, names))
        for one in problems
    ]


def named_rows(table: pa.Table, names: Names) -> pa.Table:
    """As `named`, of the column `file` where there is one."""
    at = table.schema.get_field_index("file")
    for mark, name in names.items() if at >= 0 else ():
        column = pc.replace_substring(table["file"], mark, name)
        table = table.set_column(at, table.schema.field(at), column)
    return table


def marked_rows(table: pa.Table, mark: str, path: str) -> pa.Table:
    """The table with `mark` for `path`, with which every value of its column `file` begins."""
    at = table.schema.get_field_index("file")
    rest = pc.utf8_slice_codeunits(table["file"], len(path))
    column = pc.binary_join_element_wise(pa.scalar(mark, rest.type), rest, pa.scalar("", rest.type))
    return table.set_column(at, table.schema.field(at), column)


def marked_problems(problems: Iterable[Problem], mark: str, path: str) -> list[Problem]:
    """As `marked_rows`, of the files of problems."""
    return [
        replace(one, file=mark + one.file.removeprefix(path)) if one.file.startswith(path) else one
        for one in problems
    ]
