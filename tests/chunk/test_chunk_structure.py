"""Sections, filled up with whole blocks and cut where it hurts least."""

import pyarrow as pa
import pytest

from rayeval.chunk import stage
from rayeval.chunk.config import Structure
from rayeval.chunk.tokens import Words
from rayeval.corpus.config import Parse
from rayeval.corpus.parse import build
from rayeval.tables import DOCUMENTS


def chunks(text, size, overlap=0, unit="chars", format_="markdown"):
    row = {"source_id": "a", "revision_id": "1", "text": text, "format": format_, "access": []}
    table = pa.Table.from_pylist([row | {"text_start": 0}], schema=DOCUMENTS)
    parsed = table.append_column("elements", build(Parse())(table)["elements"])
    config = Structure(size=size, overlap=overlap, unit=unit)
    return stage.build(config, Words())(parsed)["text"].to_pylist()


@pytest.mark.parametrize(
    ("text", "size", "want"),
    [
        pytest.param("\n\n", 9, [], id="nothing"),
        pytest.param("a\n\nb\n\nc\n", 99, ["a\n\nb\n\nc"], id="blocks are filled up"),
        pytest.param("a\n\nb\n\nc\n", 4, ["a\n\nb", "c"], id="up to the size"),
        pytest.param("abcd\n\n\n\nb", 4, ["abcd", "b"], id="white space at the end isn't counted"),
        pytest.param("# A\n\na\n\n# B\n\nb", 99, ["# A\n\na", "# B\n\nb"], id="sections"),
        pytest.param("a\n# A\n## B\nb\n## C\n### D\n", 99, ["a", "# A\n## B\nb", "## C\n### D"], id="bare headings"),
        pytest.param("# A\n\naaa\n\nbbb", 8, ["# A\n\naaa", "bbb"], id="a heading goes with what follows"),
        pytest.param("# A\n\naa bb cc\n\nd", 8, ["# A\n\naa", "bb cc\n\nd"], id="… even if that must be cut"),
        pytest.param("# A\n\naaaaaaaa", 8, ["# A\n\naaa", "aaaaa"], id="… anywhere"),
        pytest.param("# A b c\n\nd", 4, ["# A", "b c", "d"], id="unless it is too large itself"),
        pytest.param("    a\n    b\n\nc", 99, ["    a\n    b\n\nc"], id="indentation stays"),
    ],
)  # fmt: skip
def test_sections_and_blocks(text, size, want):
    assert chunks(text, size) == want


@pytest.mark.parametrize(
    ("text", "size", "want"),
    [
        pytest.param("One. Two two. Three!", 13, ["One. Two two.", "Three!"], id="sentences"),
        pytest.param("값은 3.5다. 끝이다.다음은 또", 8, ["값은 3.5다.", "끝이다.", "다음은 또"], id="Korean sentences"),
        pytest.param("文一。「文二！」文三", 7, ["文一。", "「文二！」文三"], id="sentences without spaces"),
        pytest.param('He said "no." Then left', 14, ['He said "no."', "Then left"], id="closing quotes"),
        pytest.param("aa bb cc dd", 5, ["aa bb", "cc dd"], id="white space"),
        pytest.param("aaaaaaa bb", 3, ["aaa", "aaa", "a", "bb"], id="anywhere"),
        pytest.param("a b\n\nc. d e", 4, ["a b", "c.", "d e"], id="what is left goes on"),
        pytest.param("- a\n- b\n  - c\n  - d\n", 12, ["- a", "- b\n  - c", "  - d"], id="items, the outer first"),
        pytest.param("```\nx = 1\n  y\n```", 9, ["```\nx = 1", "  y\n```"], id="lines of code"),
    ],
)  # fmt: skip
def test_a_block_too_large_is_cut_where_it_hurts_least(text, size, want):
    assert chunks(text, size) == want


TABLE = "| a. b | c |\n|--|--|\n| d | e |\n| f | g |\n"


@pytest.mark.parametrize(
    ("text", "size", "want"),
    [
        pytest.param(TABLE, 29, ["| a. b | c |\n|--|--|", "| d | e |\n| f | g |"], id="at rows"),
        pytest.param(TABLE, 3, ["| a. b | c |\n|--|--|", "| d | e |", "| f | g |"], id="never within a row"),
        pytest.param(f"# H\n\n{TABLE}", 6, ["# H\n\n| a. b | c |\n|--|--|", "| d | e |", "| f | g |"], id="with a heading"),
        pytest.param(f"x\n\n{TABLE}\n\n    code\n", 8, ["x", "| a. b | c |\n|--|--|", "| d | e |", "| f | g |", "    code"], id="and the block after it"),
        pytest.param(f"> {TABLE.replace(chr(10), chr(10) + '> ')}".rstrip("> "), 3, ["> | a. b | c |\n> |--|--|", "> | d | e |", "> | f | g |"], id="in a quote"),
        pytest.param("- x y\n\n  | a b |\n  |--|\n", 5, ["- x y", "  | a b |\n  |--|"], id="in an item"),
    ],
)  # fmt: skip
def test_tables(text, size, want):
    assert chunks(text, size) == want


def test_rows_of_html_stay_whole_too():
    text = "<h1>H</h1><table><tr><td>a b<td>c<table><tr><td>d<tr><td>e</table><tr><td>f g</table>"
    assert chunks(text, 3, format_="html") == ["H\na b\tc\nd\ne", "f g"]


def test_html_is_cut_as_it_shows():
    text = "<h1>제목</h1><p>A&amp;B <b>cc</b>. dd</p><p>e</p><h2>f</h2><pre>g\n  h</pre>"
    assert chunks(text, 99, format_="html") == ["제목\nA&B cc. dd\ne", "f\ng\n  h"]
    assert chunks(text, 10, format_="html") == ["제목\nA&B cc.", "dd\ne", "f\ng\n  h"]


@pytest.mark.parametrize(
    ("text", "size", "overlap", "want"),
    [
        pytest.param("aa\n\nbb\n\ncc", 6, 3, ["aa\n\nbb", "bb\n\ncc"], id="the last block"),
        pytest.param("aa\n\nbb\n\ncc", 6, 1, ["aa\n\nbb", "cc"], id="none that fits"),
        pytest.param("A. B. C. D.", 8, 5, ["A. B. C.", "B. C. D."], id="sentences"),
        pytest.param(
            "# H\n\na\n\n# I\n\nb", 9, 5, ["# H\n\na", "# I\n\nb"], id="not over a heading"
        ),
        pytest.param("aa\n\nbbbbbb", 6, 3, ["aa", "bbbbbb"], id="unless nothing new would fit"),
        pytest.param("aa bb cc", 5, 3, ["aa bb", "cc"], id="no parts of sentences"),
    ],
)
def test_overlap_repeats_blocks_or_sentences(text, size, overlap, want):
    assert chunks(text, size, overlap) == want


def test_size_in_words_and_tokens():
    assert chunks("a b c\n\nd e", 4, unit="words") == ["a b c", "d e"]
    assert chunks("a b c\n\nd e", 5, unit="words") == ["a b c\n\nd e"]
    assert chunks("서울은 크다. 부산", 6, unit="tokens") == ["서울은 크다.", "부산"]
    assert chunks("서울은 크다", 2, unit="tokens") == ["서울", "은", "크다"]
