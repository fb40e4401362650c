"""Where a document may be cut, from the places that hurt least to those that hurt most."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rayeval.chunk.characters import word_starts
from rayeval.chunk.view import View, in_no_other
from rayeval.columns import Ints

Flags = npt.NDArray[np.bool_]

_LINE_END = re.compile(r"\r\n?|\n")
# A full stop ends a sentence before white space, and after a Korean ending before Hangul too; an
# ideographic one needs nothing after it. The look-behind keeps long runs of dots linear.
_SENTENCE_END = re.compile(
    r"""(?:(?<![.?!…])[.?!…]++["'”’)\]」』]*+(?=\s)|[。！？]++["'”’)\]」』】》]*+"""
    r"""|(?<=[다요죠])\.(?=[가-힣]))\s*+"""
)


@dataclass(frozen=True)
class Boundaries:
    """Places in a text at which a chunk may begin."""

    sections: Ints
    """Where one begins: at the headings above its first body."""
    bodies: Ints
    """Where the first body of each section begins; its end if it has headings only."""
    levels: list[Ints]
    """Blocks, rows, outer items, inner items, lines of code, sentences, words; all ascending."""
    rows: tuple[Ints, Ints]
    """Table rows, (starts, ends), ascending and apart: none is ever cut."""


def boundaries(view: View) -> Boundaries:
    """Every place at which the document may be cut."""
    kinds, starts, ends = view.elements.kinds, view.starts, view.ends
    top = view.elements.outermost
    blocks = starts[top]
    sections, bodies = _sections(blocks, kinds[top] == "heading", len(view.text))
    items = kinds == "item"
    outer = in_no_other(starts[items], ends[items])
    rows = _rows(view)
    levels = [
        blocks,
        rows[0],
        starts[items][outer],
        starts[items],
        _code_lines(view),
        np.array([m.end() for m in _SENTENCE_END.finditer(view.text)], dtype=np.int64),
        word_starts(view.classes),
    ]
    return Boundaries(sections, bodies, [_outside(level, rows) for level in levels], rows)


def _sections(blocks: Ints, is_heading: Flags, n_chars: int) -> tuple[Ints, Ints]:
    """A heading begins a section, unless it follows another one: that has no body of its own."""
    follows = np.concatenate(([False], is_heading[:-1]))[: len(blocks)]
    begins = is_heading & ~follows
    begins[:1] = True
    sections = blocks[begins]
    stops = np.concatenate((sections[1:], [n_chars]))[: len(sections)]
    bodies = np.concatenate((blocks[~is_heading], [n_chars]))
    return sections, np.minimum(bodies[np.searchsorted(bodies, sections)], stops)


def _rows(view: View) -> tuple[Ints, Ints]:
    """Each row up to the next one, the line under a Markdown header with it; outer tables rule."""
    is_row, is_table = view.elements.kinds == "row", view.elements.kinds == "table"
    names = view.elements.names
    stops = dict(zip(names[is_table], view.ends[is_table], strict=True))
    found = []
    for name, start in reversed(list(zip(names[is_row], view.starts[is_row], strict=True))):
        table = name.rpartition("/")[0]
        found.append((start, stops[table]))
        stops[table] = start
    rows = np.array(found, dtype=np.int64).reshape(-1, 2)
    rows = rows[np.lexsort((-rows[:, 1], rows[:, 0]))]
    apart = in_no_other(rows[:, 0], rows[:, 1])
    return rows[apart, 0], rows[apart, 1]


def _code_lines(view: View) -> Ints:
    is_code = view.elements.kinds == "code"
    return np.array(
        [
            line_end.end()
            for start, end in zip(view.starts[is_code], view.ends[is_code], strict=True)
            for line_end in _LINE_END.finditer(view.text, start, end)
        ],
        dtype=np.int64,
    )


def _outside(places: Ints, rows: tuple[Ints, Ints]) -> Ints:
    """The places that don't lie within a row."""
    starts, ends = rows
    row = np.searchsorted(starts, places) - 1  # the last that starts before
    inside = (row >= 0) & (places < np.concatenate((ends, [0]))[row])
    return places[~inside]
