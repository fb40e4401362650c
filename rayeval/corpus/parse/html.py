"""HTML as it is stored: elements with the text that a reader sees and where it stands.

The source is read by the HTML Standard's token rules, in one pass and linear time, instead of by
`html.parser`: that one gives no end of its tokens, its errors differ between patch releases of
Python (so that the same corpus would be cut differently), and it needs quadratic time on tags that
never end. Scripts, styles, titles, templates and comments are no text.
"""

from __future__ import annotations

import re
from html import unescape

from rayeval.corpus.parse.blocks import BLOCKS, Block, Blocks
from rayeval.corpus.parse.element import Element, Headings, Names
from rayeval.corpus.parse.visible import Visible

_WHITE = " \t\n\r\f"
_ATTRIBUTE = r"""[\s/]++|=|[^\s/>=<][^\s/>=<]*+(?:\s*+=\s*+(?:"[^"]*+"|'[^']*+'|[^\s>]*+))?+"""
_NUMBER = r"\#0{0,99}[0-9]{1,7}(?![0-9])|\#[xX]0{0,99}[0-9a-fA-F]{1,6}(?![0-9a-fA-F])"
_TOKEN = re.compile(
    r"<!--(?:-?>|.*?(?:--!?>|\Z))"  # a comment, ended or not
    r"|<(?:[!?]|/(?![a-zA-Z]))[^>]*+(?:>|\Z)"  # a declaration, or what is read as a comment
    rf"|<(?P<end>/?)(?P<tag>[a-zA-Z][^\s/><]*+)(?P<rest>(?:{_ATTRIBUTE})*+)>"
    rf"|&(?:{_NUMBER}|[a-zA-Z][a-zA-Z0-9]*+);?+",
    re.DOTALL,
)
_RUN = re.compile(rf"[^{_WHITE}]++(?: [^{_WHITE}]++)*+")
_HIDDEN = {
    tag: re.compile(rf"</{tag}(?=[\s/>])", re.IGNORECASE) for tag in ("script", "style", "title")
}


def elements(text: str, start: int) -> list[Element]:
    """The elements of HTML `text` from character `start` on, in order of (start, -end).

    An element's text is what shows: references decoded, white space as one space except in `pre`,
    cells apart by a tab, blocks by a new line. It goes from its first visible character to its
    last. Blocks inside a quote, an item or a cell are part of it, save items, tables and code.
    """
    return _Reader(text, start).read()


class _Reader:
    """One pass over a source."""

    def __init__(self, source: str, start: int) -> None:
        self._source = source
        self._at = start
        self._visible = Visible()
        self._blocks = Blocks()
        self._waiting: list[Block] = []
        self._ended: list[Block] = []
        self._templates = 0

    def read(self) -> list[Element]:
        while token := _TOKEN.search(self._source, self._at):
            self._text(self._at, token.start())
            self._at = token.end()
            if token["tag"]:
                self._tag(token["tag"].lower(), token["end"] == "/", token["rest"])
            elif token[0].startswith("&"):
                self._reference(token.start(), token.end())
        self._text(self._at, len(self._source))
        self._end(list(self._blocks.end_all()))
        return self._elements()

    def _tag(self, tag: str, ends: bool, rest: str) -> None:
        if tag in _HIDDEN and not ends and not rest.endswith("/"):
            found = _HIDDEN[tag].search(self._source, self._at)
            self._at = found.start() if found else len(self._source)
        elif tag == "template":
            self._templates = max(0, self._templates + (-1 if ends else 1))
        elif tag == "br":
            self._visible.separate("\n")
        elif tag in BLOCKS and not self._templates:
            self._visible.separate("\t" if tag in ("td", "th") else "\n")
            if ends:
                self._end(self._blocks.end(tag))
            else:
                self._begin(tag)

    def _begin(self, tag: str) -> None:
        ended, block = self._blocks.start(tag)
        self._end(ended)
        if block is not None:
            self._waiting.append(block)

    def _end(self, blocks: list[Block]) -> None:
        for block in blocks:
            if block.first < 0:
                self._waiting.remove(block)
            elif block.kind:
                block.last = self._visible.length
                block.last_piece = len(self._visible.pieces)
                self._ended.append(block)

    def _text(self, start: int, end: int) -> None:
        """Source characters [start, end), which hold neither tags nor references."""
        if start == end or self._templates:
            return
        if (pre := self._blocks.preformatted) is not None:
            self._preformatted(start, end, pre)
            return
        at = start
        for run in _RUN.finditer(self._source, start, end):
            if run.start() > at:
                self._visible.separate(" ")
            at = run.end()
            self._show(run.start(), at, run[0])
        if at < end:
            self._visible.separate(" ")

    def _preformatted(self, start: int, end: int, pre: Block) -> None:
        """White space stays as it is, but for what precedes or follows all else in its block."""
        text = self._source[start:end]
        begin = start + len(text) - len(text.lstrip(_WHITE))
        stop = max(begin, start + len(text.rstrip(_WHITE)))
        for left, right in ((start, begin), (begin, stop), (stop, end)):
            self._put(left, right, self._source[left:right], pre)

    def _reference(self, start: int, end: int) -> None:
        """`&amp;` and the like; one that names nothing shows as it is written."""
        if not self._templates:
            shown = unescape(self._source[start:end])
            self._put(start, end, shown, self._blocks.preformatted)

    def _put(self, start: int, end: int, text: str, pre: Block | None) -> None:
        """Something visible, or white space."""
        if text.strip(_WHITE):
            self._show(start, end, text)
        elif text and pre is None:
            self._visible.separate(" ")
        elif text and pre and pre.first >= 0:
            self._visible.hold(start, end, text)

    def _show(self, start: int, end: int, text: str) -> None:
        if not self._blocks.in_element:
            self._begin("")
        self._visible.settle(start)
        for block in self._waiting:
            block.first = self._visible.length
            block.first_piece = len(self._visible.pieces)
        self._visible.add(start, end, text, fresh=bool(self._waiting))
        self._waiting.clear()

    def _elements(self) -> list[Element]:
        """What has ended and shows, named in document order."""
        text, pieces = self._visible.text(), self._visible.pieces
        names, headings = Names(), Headings()
        found = []
        self._ended.sort(
            key=lambda b: (pieces[b.first_piece][0], -pieces[b.last_piece - 1][1], b.number)
        )
        for block in self._ended:
            words = text[block.first : block.last]
            level, path = block.level, headings.path
            if level is not None:
                path = headings.enter(level, words)
            own = pieces[block.first_piece : block.last_piece]
            block.name = _named(block, names)
            span = own[0][0], own[-1][1]
            found.append(Element(block.name, block.kind or "", *span, path, level, words, own))
        return found


def _named(block: Block, names: Names) -> str:
    if block.table is None:
        return names.next(block.kind or "")
    if block.kind == "row":
        return names.row(block.table.name, block.row)
    return names.cell(block.table.name, block.row, block.column)
