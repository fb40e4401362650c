"""HTML: what a reader sees, by block, and where each character of it stands in the source."""

import html as standard
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rayeval.corpus.parse import html

untimed = settings(deadline=None)  # the machine's load is no property of the code


def found(source, start=0):
    return [(e.element_id, e.text) for e in html.elements(source, start)]


@pytest.mark.parametrize(
    ("source", "want"),
    [
        pytest.param("", [], id="nothing"),
        pytest.param("<p> \n</p><table><tr><td></table>", [], id="nothing to see"),
        pytest.param("bare", [("paragraph-1", "bare")], id="bare text"),
        pytest.param(
            "<h2> 휴가\n <em>규정</em></h2><p>첫  줄<br>둘째\t줄<p>다음",
            [("heading-1", "휴가 규정"), ("paragraph-1", "첫 줄\n둘째 줄"), ("paragraph-2", "다음")],
            id="white space is one space, br a line end, p ends itself",
        ),
        pytest.param(
            "A&amp;B &lt;b&gt; &#44032;&#x1F600;&nbsp;&copy &xyzzy; AT&T &#x110000; &#0; &",
            [("paragraph-1", "A&B <b> 가😀\u00a0© &xyzzy; AT&T \ufffd \ufffd &")],
            id="references",
        ),
        pytest.param(f"a &#{'9' * 5000}; b", [("paragraph-1", f"a &#{'9' * 5000}; b")], id="a long number"),
        pytest.param("a&#32;&#10;b&#x20;", [("paragraph-1", "a b")], id="references to white space"),
        pytest.param(
            "<html><head><title>T</title><style>p{}</style><script>'<p>no</p>'</script></head>"
            "<body>a<!-- <p>no --><template><p>no</p></template><script>no</SCRIPT >b",
            [("paragraph-1", "ab")],
            id="head, script, style, template, comments",
        ),
        pytest.param(
            "<div>a<p>b</p>c</div>d<section>e</section>",
            [(f"paragraph-{i}", c) for i, c in enumerate("abcde", start=1)],
            id="text in containers makes paragraphs",
        ),
        pytest.param(
            "<ul><li>a <b>x</b><ol><li>b<li><p>c</p><p>d</p></ol><li>e</ul><dl><dt>f<dd>g</dl>",
            [
                ("list-1", "a x\nb\nc\nd\ne"),
                ("item-1", "a x\nb\nc\nd"),
                ("item-2", "b"),
                ("item-3", "c\nd"),
                ("item-4", "e"),
                ("list-2", "f\ng"),
                ("item-5", "f"),
                ("item-6", "g"),
            ],
            id="lists",
        ),
        pytest.param(
            "<table><caption>C</caption><thead><tr><th>A<th>B</thead>"
            "<tbody><tr><td>1</td><td></td><td>3</td></tr><tr><tr><td>4</table>",
            [
                ("table-1", "C\nA\tB\n1\t3\n4"),
                ("table-1/row-1", "A\tB"),
                ("table-1/r1c1", "A"),
                ("table-1/r1c2", "B"),
                ("table-1/row-2", "1\t3"),
                ("table-1/r2c1", "1"),
                ("table-1/r2c3", "3"),
                ("table-1/row-4", "4"),
                ("table-1/r4c1", "4"),
            ],
            id="tables: empty rows and cells count",
        ),
        pytest.param(
            "<table><tr><td>a<table><tr><td>b</table>c<td>d</table>",
            [
                ("table-1", "a\nb\nc\td"),
                ("table-1/row-1", "a\nb\nc\td"),
                ("table-1/r1c1", "a\nb\nc"),
                ("table-2", "b"),
                ("table-2/row-1", "b"),
                ("table-2/r1c1", "b"),
                ("table-1/r1c2", "d"),
            ],
            id="a table in a cell",
        ),
        pytest.param(
            "<table><td>a<td>b<tr><td>c</table>",
            [
                ("table-1", "a\tb\nc"),
                ("table-1/r1c1", "a"),
                ("table-1/r1c2", "b"),
                ("table-1/row-2", "c"),
                ("table-1/r2c1", "c"),
            ],
            id="cells without a row tag",
        ),
        pytest.param(
            "<pre>\n  x = <b>1</b>\n\n  y &lt; 2 \n</pre>z",
            [("code-1", "x = 1\n\n  y < 2"), ("paragraph-1", "z")],
            id="pre keeps its white space",
        ),
        pytest.param(
            "<blockquote><h3>no section</h3><p>a</p><ul><li>b</ul></blockquote><hr><p>c",
            [("quote-1", "no section\na\nb"), ("item-1", "b"), ("paragraph-1", "c")],
            id="a quote is one",
        ),
        pytest.param("<td>a</td><li>b</li>", [("paragraph-1", "a"), ("item-1", "b")], id="strays"),
        pytest.param("a < b <3 <", [("paragraph-1", "a < b <3 <")], id="a less-than sign"),
        pytest.param(
            "<p title='>' data-x=\">\" y = z>a</p ><a href=x?a=b&amp;c>b</a><img alt='no'/>",
            [("paragraph-1", "a"), ("paragraph-2", "b")],
            id="attributes",
        ),
        pytest.param('<p class="a>b</p><p>c', [("paragraph-1", "b"), ("paragraph-2", "c")], id="open quote"),
        pytest.param("a<!-- never closed <p>b", [("paragraph-1", "a")], id="open comment"),
        pytest.param("a<!-->b<!--->c<!x>d</>e<?f?>", [("paragraph-1", "abcde")], id="odd comments"),
        pytest.param("a<script>b", [("paragraph-1", "a")], id="open script"),
        pytest.param("<P>a</P><H1>b", [("paragraph-1", "a"), ("heading-1", "b")], id="capitals"),
        pytest.param("</div></p>a</li></table>b", [("paragraph-1", "a"), ("paragraph-2", "b")], id="ends only"),
        pytest.param("<div><p>a</div>b", [("paragraph-1", "a"), ("paragraph-2", "b")], id="a div ends its p"),
    ],
)  # fmt: skip
def test_elements(source, want):
    assert found(source) == want


def test_elements_stand_where_they_show():
    source = "\ufeff<p> A&amp;B <b>c</b></p>\n<ul>\n<li>가😀\n</ul>"
    first, whole, item = html.elements(source, 1)
    assert source[first.start : first.end] == "A&amp;B <b>c"
    assert first.pieces == [(5, 6, 1), (6, 11, 1), (11, 12, 1), (12, 16, 1), (16, 17, 1)]
    assert source[whole.start : whole.end] == source[item.start : item.end] == "가😀"


def test_headings_lead_to_what_is_below_them():
    source = "<h1>A  b</h1><p>x</p><div><h3>C</h3>y</div><h2>D</h2><ul><li>z</ul>"
    assert [(e.element_id, e.level, e.heading_path) for e in html.elements(source, 0)] == [
        ("heading-1", 1, ()),
        ("paragraph-1", None, ("A b",)),
        ("heading-2", 3, ("A b",)),
        ("paragraph-2", None, ("A b", "C")),
        ("heading-3", 2, ("A b",)),
        ("list-1", None, ("A b", "D")),
        ("item-1", None, ("A b", "D")),
    ]


@pytest.mark.parametrize(
    "part",
    ["<a ", "</ ", "<!x ", "<!-- ", '<a b="<a b=1 "', "<div>", "<table><tr><td>x", "<ul><li>x",
     "&#", "&a", "<pre> a\n ", "<title>", "<template>", "<p/=", "<b a=b", "</p>", "<h1>a"],
)  # fmt: skip
def test_malformed_html_is_read_in_linear_time(part):
    html.elements(part * 5_000, 0)  # quadratic time would take minutes


soup = st.lists(
    st.sampled_from(
        ["<p>", "</p>", "<div>", "</div>", "<ul>", "<li>", "</ul>", "<table>", "<tr>", "<td>",
         "</td>", "</tr>", "</table>", "<pre>", "</pre>", "<h1>", "</h1>", "<b>", "</b>", "<br>",
         "<!-- x -->", "<script>", "</script>", "<blockquote>", "</blockquote>", "<template>",
         "</template>", " ", "\n", "\r\n", "가😀", "word", "&amp;", "&#32;", "&fjlig;", "&", "<", "a  b"]
    ),
    max_size=30,
).map("".join)  # fmt: skip


def shown(source, piece):
    """What one piece stands for, apart from white space."""
    start, end, chars = piece
    raw = source[start:end]
    return raw if end - start == chars else standard.unescape(raw)


@untimed
@given(soup, st.integers(0, 3))
def test_pieces_lead_back_to_the_source(text, start):
    source = "\ufeff--"[:start] + text
    elements = html.elements(source, start)
    assert [(e.start, -e.end) for e in elements] == sorted((e.start, -e.end) for e in elements)
    assert len({e.element_id for e in elements}) == len(elements)
    for e in elements:
        assert e.text == e.text.strip(" \t\n\r\f") != ""
        assert sum(chars for _, _, chars in e.pieces) == len(e.text)
        edges = [edge for s, t, _ in e.pieces for edge in (s, t)]
        assert edges == sorted(edges)
        assert (e.start, e.end) == (edges[0], edges[-1])
        at = 0
        for piece in e.pieces:
            part = e.text[at : at + piece[2]]
            at += piece[2]
            assert part.isspace() or part.split() == shown(source, piece).split()


@untimed
@given(soup)
def test_elements_lie_in_each_other_or_apart(source):
    elements = html.elements(source, 0)
    for a in elements:
        for b in elements:
            apart = a.end <= b.start or b.end <= a.start
            holds = a.start <= b.start and b.end <= a.end
            held = b.start <= a.start and a.end <= b.end
            assert apart or holds or held


class Reader(HTMLParser):
    """The text of well-formed HTML by the standard library."""

    def __init__(self):
        super().__init__()
        self.text = ""
        self.hidden = False

    def handle_starttag(self, tag, attrs):
        self.hidden |= tag in ("script", "style", "title")

    def handle_endtag(self, tag):
        self.hidden &= tag not in ("script", "style", "title")

    def handle_data(self, data):
        self.text += "" if self.hidden else data


words = st.text("ab가😀 \n&<>\"'", max_size=8).map(standard.escape)
trees = st.recursive(
    words,
    lambda inner: st.builds(
        lambda tag, parts: f"<{tag}>{''.join(parts)}</{tag}>",
        st.sampled_from(
            ["div", "ul", "li", "b", "table", "tr", "td", "pre", "blockquote", "style"]
        ),
        st.lists(inner, max_size=4),
    ),
    max_leaves=15,
)


@untimed
@given(trees)
def test_nothing_that_shows_is_lost_or_repeated(source):
    reader = Reader()
    reader.feed(source)
    reader.close()
    elements = html.elements(source, 0)
    reach, text = 0, ""
    for e in elements:
        if e.start >= reach:
            text += e.text
            reach = e.end
    assert "".join(text.split()) == "".join(reader.text.split())
