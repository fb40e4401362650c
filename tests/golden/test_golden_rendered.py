"""Gold in HTML: quotes as readers see them, spans in the source."""

from __future__ import annotations

import re

import pytest

TAG_OR_TEXT = re.compile(r"<[^>]*>|&\w+;|\s+|[^<&\s]+")
ENTITIES = {"&amp;": "&", "&nbsp;": "\u00a0"}


def shown(source, start, end, kind="paragraph", number=1):
    """An element as a parser finds it between two places of the source."""
    text, pieces = "", []
    for match in TAG_OR_TEXT.finditer(source, start, end):
        token, piece = match[0], match.span()
        if token.startswith("<"):
            continue
        put = ENTITIES.get(token, " " if token.isspace() else token)
        text += put
        pieces.append({"start_char": piece[0], "end_char": piece[1], "text_chars": len(put)})
    return {"element_id": f"{kind}-{number}", "kind": kind, "text": text, "pieces": pieces,
            "start_char": pieces[0]["start_char"], "end_char": pieces[-1]["end_char"]}  # fmt: skip


HEAD = "<html><head><title>Leave</title></head><h1>Leave</h1>"
BODY = "<p class='two'>You have <b>25</b>\n  days &amp; more.</p>"
LAST = "<ul><li>one</li><li>two</li></ul>"
PAGE = f"{HEAD}{BODY}<script>var days = 25;</script>{LAST}</html>"


@pytest.fixture(scope="session")
def page(make_corpus):
    heading = PAGE.index("Leave</h1>")
    body = PAGE.index("You")
    items = PAGE.index("one"), PAGE.index("two</li>")
    elements = [
        shown(PAGE, heading, heading + 5, "heading"),
        shown(PAGE, body, PAGE.index("</p>")),
        shown(PAGE, items[0], items[1] + 3, "list"),
        shown(PAGE, items[0], items[0] + 3, "item", 1),
        shown(PAGE, items[1], items[1] + 3, "item", 2),
    ]
    document = {"source_id": "a", "format": "html", "text": PAGE, "elements": elements}
    return make_corpus(document)


@pytest.mark.parametrize(
    ("quote", "source"),
    [
        pytest.param(
            "25 days & more", "25</b>\n  days &amp; more", id="across a tag and an entity"
        ),
        pytest.param("& more.", "&amp; more.", id="from an entity on"),
        pytest.param("have 25", "have <b>25", id="into a tag"),
        pytest.param("two", "two", id="what is read, though an attribute says it too"),
        pytest.param("Leave", "Leave", id="what is read, though the title says it too"),
        pytest.param("Leave You have", "Leave</h1><p class='two'>You have", id="across elements"),
        pytest.param("days &amp; more", "days &amp; more", id="as it is written"),
    ],
)
def test_a_quote_as_read_is_one_span_of_the_source(page, evidence_of, quote, source):
    for names in ({"source_id": "a"}, {}):
        (found,), problems = evidence_of(page, {"quote": quote, **names})
        assert problems == []
        (span,) = found["spans"]
        assert PAGE[span["start_char"] : span["end_char"]] == source
        assert span["start_char"] > PAGE.index("</head>")
        assert found["parsed"]


def test_the_whole_document_is_what_readers_see(page, evidence_of):
    (found,), _ = evidence_of(page, {"source_id": "a"})
    start, end = PAGE.index("Leave</h1>"), PAGE.index("two</li>") + 3
    assert found["spans"] == [{"start_char": start, "end_char": end}]


@pytest.mark.parametrize(
    ("quote", "parsed"),
    [
        pytest.param("<b>25</b>\n  days", True, id="markup and all"),
        pytest.param("one</li><li>two", True, id="over two items"),
        pytest.param("var days = 25;", False, id="a script"),
        pytest.param("<title>Leave</title>", False, id="the head"),
    ],
)
def test_text_that_no_element_shows_is_lost(page, evidence_of, quote, parsed):
    (found,), problems = evidence_of(page, {"source_id": "a", "quote": quote})
    assert (found["parsed"], problems) == (parsed, [])


def test_text_that_an_element_drops_is_lost(make_corpus, evidence_of):
    source = "<p>Send it to <a>hr at example</a> today</p>"
    whole = shown(source, 3, source.index("</p>"))
    lossy = {**whole, "text": "Send it to today", "pieces": [
        {"start_char": 3, "end_char": 14, "text_chars": 11},
        {"start_char": source.index("today"), "end_char": source.index("</p>"), "text_chars": 5}]}  # fmt: skip
    for element, parsed in ((whole, True), (lossy, False)):
        corpus = make_corpus(
            {"source_id": "a", "format": "html", "text": source, "elements": [element]}
        )
        (found,), problems = evidence_of(
            corpus, {"source_id": "a", "quote": "to <a>hr at example</a>"}
        )
        assert (found["parsed"], problems) == (parsed, [])
