"""Markdown and text: every element at its exact place in the source as it is stored."""

import re
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from rayeval.corpus.parse import markdown, text

untimed = settings(deadline=None)  # the machine's load is no property of the code


def found(source, start=0, parse=markdown.elements):
    return [(e.element_id, source[e.start : e.end]) for e in parse(source, start)]


def places(source, start=0):
    return {e.element_id: (e.start, e.end) for e in markdown.elements(source, start)}


@pytest.mark.parametrize(
    ("source", "want"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param(" \n\t\r\n", [], id="white space"),
        pytest.param(
            "# 제목\n\n본문\n이어서\n",
            [("heading-1", "# 제목"), ("paragraph-1", "본문\n이어서")],
            id="heading and paragraph",
        ),
        pytest.param("제목\n===\n본문", [("heading-1", "제목\n==="), ("paragraph-1", "본문")], id="underlined"),
        pytest.param(
            "a\r\nb\r\n\r\nc\rd\r\re", [("paragraph-1", "a\r\nb"), ("paragraph-2", "c\rd"), ("paragraph-3", "e")],
            id="CRLF and CR count in offsets",
        ),
        pytest.param(
            "a\u2028b\x0cc\x85d\n\n😀é",
            [("paragraph-1", "a\u2028b\x0cc\x85d"), ("paragraph-2", "😀é")],
            id="only CR and LF end a line",
        ),
        pytest.param("a\0b\n\n\0", [("paragraph-1", "a\0b"), ("paragraph-2", "\0")], id="NUL"),
        pytest.param(
            "```py\n# no heading\n\n```\n\n    indented\n",
            [("code-1", "```py\n# no heading\n\n```"), ("code-2", "    indented")],
            id="code",
        ),
        pytest.param("```\nnever closed\n\n\n", [("code-1", "```\nnever closed")], id="open fence"),
        pytest.param(
            "> q\n> r\nlazy\n\n***\n<div>\nx\n</div>\n",
            [("quote-1", "> q\n> r\nlazy"), ("rule-1", "***"), ("html-1", "<div>\nx\n</div>")],
            id="quote, rule, html",
        ),
        pytest.param("[a]: http://x 'y'\n", [("paragraph-1", "[a]: http://x 'y'")], id="a definition is text"),
        pytest.param(
            "- a\n  - b\n\n    still b\n- c\n\n\npara",
            [
                ("list-1", "- a\n  - b\n\n    still b\n- c"),
                ("item-1", "- a\n  - b\n\n    still b"),
                ("item-2", "  - b\n\n    still b"),
                ("item-3", "- c"),
                ("paragraph-1", "para"),
            ],
            id="nested lists have items, the outermost is the list",
        ),
        pytest.param(
            "1. a\n\n   # not a section\n\n   ```\n   x\n   ```\n> - q\n",
            [
                ("list-1", "1. a\n\n   # not a section\n\n   ```\n   x\n   ```"),
                ("item-1", "1. a\n\n   # not a section\n\n   ```\n   x\n   ```"),
                ("code-1", "   ```\n   x\n   ```"),
                ("quote-1", "> - q"),
                ("item-2", "> - q"),
            ],
            id="in a container only items, tables and code",
        ),
    ],
)  # fmt: skip
def test_elements(source, want):
    assert found(source) == want


TABLE = r"""| 장비 | 기간 |
|:--|--:|
| 노트북 \| 모니터 | `a \| b` 5일 |
| | 😀 |
|  x  |
"""


def test_tables_have_rows_and_cells():
    assert found(TABLE) == [
        ("table-1", TABLE.rstrip("\n")),
        ("table-1/row-1", "| 장비 | 기간 |"),
        ("table-1/r1c1", "장비"),
        ("table-1/r1c2", "기간"),
        ("table-1/row-2", r"| 노트북 \| 모니터 | `a \| b` 5일 |"),
        ("table-1/r2c1", r"노트북 \| 모니터"),
        ("table-1/r2c2", r"`a \| b` 5일"),
        ("table-1/row-3", "| | 😀 |"),
        ("table-1/r3c2", "😀"),
        ("table-1/row-4", "|  x  |"),
        ("table-1/r4c1", "x"),
    ]


@pytest.mark.parametrize(
    ("source", "cells"),
    [
        pytest.param("a | b\n--|--\nc | d", "abcd", id="no pipes at the ends"),
        pytest.param("| a |\n|--|\n| b | too many |", "ab", id="what has no column is no cell"),
        pytest.param("> | a | b |\n> |--|--|\n> | c | d |", "abcd", id="in a quote"),
        pytest.param("> a | b\n> --|--\n> c | d", "abcd", id="in a quote without pipes"),
        pytest.param("- | a | b |\n  |--|--|\n  | c | d |", "abcd", id="in an item"),
        pytest.param("1. > a | b\n   > --|--\n   > c | d", "abcd", id="in a quote in an item"),
        pytest.param("| a\u3000|\u00a0b |\n|--|--|\n| c|d|", "abcd", id="other white space"),
        pytest.param("|a|b|\r\n|-|-|\r\n|c|d|\r\n", "abcd", id="CRLF"),
    ],
)
def test_cells_are_trimmed_wherever_the_table_stands(source, cells):
    shown = [text for name, text in found(source) if re.search(r"/r\dc\d$", name)]
    assert shown == list(cells)


def test_tables_are_counted_one_by_one():
    names = [name for name, _ in found("|a|\n|-|\n\n|b|\n|-|\n|c|\n")]
    assert names == [
        "table-1", "table-1/row-1", "table-1/r1c1",
        "table-2", "table-2/row-1", "table-2/r1c1", "table-2/row-2", "table-2/r2c1",
    ]  # fmt: skip


def test_headings_lead_to_what_is_below_them():
    source = "a\n# One\nb\n### Three   x\nc\n## *Two*\n- d\n# Next\n"
    paths = {e.element_id: e.heading_path for e in markdown.elements(source, 0)}
    assert paths == {
        "paragraph-1": (),
        "heading-1": (),
        "paragraph-2": ("One",),
        "heading-2": ("One",),
        "paragraph-3": ("One", "Three x"),
        "heading-3": ("One",),
        "list-1": ("One", "*Two*"),
        "item-1": ("One", "*Two*"),
        "heading-4": (),
    }
    levels = [e.level for e in markdown.elements(source, 0)]
    assert levels == [None, 1, None, 3, None, 2, None, None, 1]


def test_offsets_count_from_the_start_of_the_text():
    source = "\ufeff---\ntitle: x\n---\n# A\n\nb"
    assert places(source, 18) == {"heading-1": (18, 21), "paragraph-1": (23, 24)}


def test_decomposed_text_stays_decomposed():
    source = unicodedata.normalize("NFD", "# 한글\n\ncafé")
    assert [text for _, text in found(source)] == source.split("\n\n")


def test_what_is_nested_beyond_all_reason_does_not_hang():
    for source in (
        ">" * 20_000,
        "- " * 5_000 + "x",
        "\n".join(" " * i + "- x" for i in range(300)),
    ):
        assert len(found(source)) < 400


@pytest.mark.parametrize(
    ("source", "want"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param(" \n\n", [], id="white space"),
        pytest.param(
            "a\r\nb\r\n \t\r\n\r\n  c\rd\n", [("paragraph-1", "a\r\nb"), ("paragraph-2", "  c\rd")],
            id="white lines part paragraphs",
        ),
        pytest.param("# no\n- markdown\n", [("paragraph-1", "# no\n- markdown")], id="no markdown"),
    ],
)  # fmt: skip
def test_text_has_paragraphs(source, want):
    assert found(source, parse=text.elements) == want


blocks = st.sampled_from(
    ["# 가", "a | b", "--|--", "|-|-|", "| c \\| | `d|` |", "- x", "  - y", "    z", "> q", "> | q |",
     "```", "", "", " ", "***", "===", "<b>", "😀é", "1. n", "[r]: u", "\t", "\u2028", "\0", "> - | a |"]
)  # fmt: skip
sources = st.lists(st.tuples(blocks, st.sampled_from(["\n", "\r\n", "\r"]))).map(
    lambda lines: "".join(line + end for line, end in lines)
)


@untimed
@given(sources, st.sampled_from(["", "\ufeff", "---\na: b\n---\n"]))
def test_every_visible_character_is_in_an_element_and_elements_are_in_order(source, front):
    elements = markdown.elements(front + source, len(front))
    covered = {i for e in elements for i in range(e.start, e.end)}
    whole = front + source
    assert all(i in covered for i in range(len(front), len(whole)) if not whole[i].isspace())
    assert [(e.start, -e.end) for e in elements] == sorted((e.start, -e.end) for e in elements)
    assert all(e.start < e.end for e in elements)
    assert len({e.element_id for e in elements}) == len(elements)


@untimed
@given(sources)
def test_cells_are_what_the_library_takes_them_for(source):
    md = MarkdownIt("commonmark", {"maxNesting": 100}).enable("table").disable("reference")
    tokens = md.parse(source)
    want = [
        inline.content
        for cell, inline in pairwise(tokens)
        if cell.type in ("th_open", "td_open") and inline.content
    ]
    cells = [e for e in markdown.elements(source, 0) if e.kind == "cell"]
    ours = [source[e.start : e.end].replace("\\|", "|").replace("\0", "\ufffd") for e in cells]
    assert ours == want
