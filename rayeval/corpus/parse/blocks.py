"""Which blocks of HTML are open: the part of HTML's tree rules that decides where text belongs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_CELLS = frozenset({"td", "th"})
_KINDS = {
    **dict.fromkeys(_HEADINGS, "heading"),
    **dict.fromkeys(("ul", "ol", "dl", "menu"), "list"),
    **dict.fromkeys(("li", "dt", "dd"), "item"),
    **dict.fromkeys(_CELLS, "cell"),
    "": "paragraph",  # text that stands directly in a container
    "p": "paragraph",
    "table": "table",
    "tr": "row",
    "pre": "code",
    "blockquote": "quote",
}
_CONTAINERS = (
    "address article aside body caption center details dialog dir div fieldset figcaption figure "
    "footer form header hgroup hr html legend main nav optgroup option search section summary "
    "tbody tfoot thead"
)
BLOCKS = frozenset({*_KINDS, *_CONTAINERS.split()})
_ANYWHERE = frozenset({"item", "table", "row", "cell", "code"})
_ROWS = frozenset({"tr", "thead", "tbody", "tfoot"})

_Tags = frozenset[str]
# An open tag ends open ones of its kin, up to what holds it (HTML Standard, 13.2.6.4.7 on).
_ENDS: dict[str, tuple[_Tags, _Tags]] = {
    "li": (frozenset({"li"}), frozenset({"ul", "ol", "menu", "dir"})),
    **dict.fromkeys(("dt", "dd"), (frozenset({"dt", "dd"}), frozenset({"dl"}))),
    **dict.fromkeys(_ROWS, (_CELLS | {"tr"}, frozenset({"table"}))),
    **dict.fromkeys(_CELLS, (_CELLS, frozenset({"tr", "table"}))),
    **dict.fromkeys(_HEADINGS, (frozenset(_HEADINGS), BLOCKS - {*_HEADINGS})),
}
_MAX_DEPTH = 256


@dataclass(eq=False)
class Block:
    """A block, open or ended."""

    tag: str
    kind: str | None
    number: int
    table: Block | None = None
    row: int = 0
    """The number of this row or cell; of a table, the last row's."""
    column: int = 0
    name: str = ""
    first: int = -1
    """Where its visible text begins; -1 if it has none. `last`: where it ends."""
    last: int = -1
    first_piece: int = 0
    last_piece: int = 0

    @property
    def level(self) -> int | None:
        """Of a heading."""
        return int(self.tag[1]) if self.kind == "heading" else None


class Blocks:
    """The open blocks, outermost first."""

    def __init__(self) -> None:
        self._open: list[Block] = []
        self._count = 0

    @property
    def in_element(self) -> bool:
        """Whether text here belongs to an element already."""
        return any(block.kind for block in self._open)

    @property
    def preformatted(self) -> Block | None:
        """The `pre` that text here belongs to."""
        return self._innermost(frozenset({"pre"}))

    def start(self, tag: str) -> tuple[list[Block], Block | None]:
        """`<tag>` of a block. Returns what ends by that, innermost first, and what begins.

        Nothing begins at 256 blocks deep: what is nested deeper belongs to the block around it.
        """
        ended = list(self._end_paragraph())
        if tag in _ENDS:
            ended += self._end_to(*_ENDS[tag], all_of_them=True)
        if tag == "hr" or len(self._open) >= _MAX_DEPTH:
            return ended, None
        self._count += 1
        block = Block(tag, self._kind(tag), self._count)
        if block.kind in ("row", "cell"):
            self._place(block)
        self._open.append(block)
        return ended, block

    def end(self, tag: str) -> list[Block]:
        """`</tag>` of a block. Returns what ends by that, innermost first."""
        ended = list(self._end_paragraph())
        if tag == "table":
            scope: _Tags = frozenset()
        elif tag in _CELLS | _ROWS:
            scope = frozenset({"table"})
        else:
            scope = _CELLS | {"table"}
        return ended + self._end_to(frozenset({tag}), scope, all_of_them=False)

    def end_all(self) -> Iterator[Block]:
        """The end of the document."""
        while self._open:
            yield self._open.pop()

    def _kind(self, tag: str) -> str | None:
        kind = _KINDS.get(tag)
        if kind in ("row", "cell") and self._innermost(frozenset({"table"})) is None:
            return None
        return kind if kind in _ANYWHERE or not self.in_element else None

    def _place(self, block: Block) -> None:
        """Counts a row, or a cell; cells directly in a table make up a row without a tag."""
        table = self._innermost(frozenset({"table"}))
        row = self._innermost(frozenset({"tr", "table"}))
        if table is None or row is None:
            return
        if block.kind == "row":
            table.row, table.column = table.row + 1, 0
        else:
            table.row += row is table and not row.column
            row.column += 1
        block.table, block.row, block.column = table, table.row, row.column

    def _innermost(self, tags: _Tags) -> Block | None:
        return next((block for block in reversed(self._open) if block.tag in tags), None)

    def _end_paragraph(self) -> Iterator[Block]:
        """A paragraph ends where another block begins or ends."""
        if self._open and self._open[-1].tag in ("", "p"):
            yield self._open.pop()

    def _end_to(self, tags: _Tags, scope: _Tags, *, all_of_them: bool) -> list[Block]:
        """Ends the innermost of `tags`, or all up to one of `scope`, with what is within."""
        found = len(self._open)
        for i in range(len(self._open) - 1, -1, -1):
            if self._open[i].tag in tags:
                found = i
            if self._open[i].tag in scope or (found == i and not all_of_them):
                break
        ended = self._open[found:][::-1]
        del self._open[found:]
        return ended
