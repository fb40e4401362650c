"""Where evidence stands in the documents, and every way in which it may not."""

from __future__ import annotations

import unicodedata

import pytest

GUIDE = "# Leave\n\nYou have 25 days. Ask HR.\n\n25 days is the rule."
EMOJI = "A😀B한국"


def spans(evidence):
    return [[(s["start_char"], s["end_char"]) for s in e["spans"]] for e in evidence]


@pytest.fixture(scope="session")
def guide(make_corpus):
    return make_corpus({"source_id": "a.md", "text": GUIDE})


def at(start, end, **fields):
    return {"source_id": "a.md", "start_char": start, "end_char": end, **fields}


@pytest.mark.parametrize(
    ("evidence", "want"),
    [
        pytest.param(at(9, 25), [(9, 25)], id="offsets alone"),
        pytest.param(at(27, 33, quote="Ask HR"), [(27, 33)], id="offsets that agree with the quote"),
        pytest.param(
            {"source_id": "a.md", "spans": [{"start_char": s, "end_char": s + 2} for s in (36, 18)],
             "quote": "25 25"}, [(18, 20), (36, 38)], id="spans, sorted, whose quote has a space",
        ),
        pytest.param({"source_id": "a.md", "quote": "Ask HR"}, [(27, 33)], id="the quote alone"),
        pytest.param({"source_id": "a.md", "quote": "HR.\r\n\r\n 25  days"}, [(31, 43)], id="other white space"),
        pytest.param({"source_id": "a.md", "quote": "Ask HR", "page": 9}, [(27, 33)], id="a page is no place"),
        pytest.param({"source_id": "a.md"}, [(0, len(GUIDE))], id="the source alone"),
        pytest.param({"source_id": "a.md", "element_id": "heading-1"}, [(0, 7)], id="an element"),
        pytest.param({"source_id": "a.md", "element_id": "paragraph-3", "quote": "25 days"}, [(36, 56)], id="an element that holds the quote"),
    ],
)  # fmt: skip
def test_located(guide, evidence_of, evidence, want):
    found, problems = evidence_of(guide, evidence)
    assert problems == []
    assert spans(found) == [want]
    assert [(e["found"], e["revision_id"], e["parsed"]) for e in found] == [("located", "r1", True)]
    assert found[0]["whole"] == ("element_id" in evidence)


@pytest.mark.parametrize(
    ("evidence", "kind", "words"),
    [
        pytest.param(at(50, 57), "offset_outside_text", ["[50, 57)", "56 characters"], id="outside"),
        pytest.param(at(0, 5, quote="Ask HR"), "quote_mismatch", ["'# Lea'", "'Ask HR'", "[27, 33)"], id="quote elsewhere"),
        pytest.param(at(26, 33, quote="Ask HR"), "quote_mismatch", ["' Ask HR'", "[27, 33)"], id="a leading space"),
        pytest.param(at(27, 33, quote="ask HR"), "quote_mismatch", ["nowhere"], id="another case"),
        pytest.param({"source_id": "a.md", "quote": "25 days"}, "quote_ambiguous", ["[18, 25), [36, 43)"], id="twice"),
        pytest.param({"source_id": "a.md", "quote": "25\ndays"}, "quote_ambiguous", ["[18, 25), [36, 43)"], id="twice, but for its form"),
        pytest.param({"source_id": "a.md", "quote": "30 days"}, "quote_lost", ["'30 days'"], id="lost"),
        pytest.param({"quote": "30 days"}, "quote_lost", ["no current document"], id="lost everywhere"),
        pytest.param({"source_id": "a.md", "element_id": "heading-2"}, "unknown_element", ["'heading-1'"], id="element"),
        pytest.param({"source_id": "a.md", "element_id": "heading-1", "cell": "r1c1"}, "unknown_element", ["'heading-1/r1c1'"], id="cell"),
        pytest.param({"source_id": "a.md", "element_id": "heading-1", "quote": "25"}, "quote_mismatch", ["'# Leave'"], id="another element"),
        pytest.param({"source_id": "b.md"}, "unknown_source", ["'b.md'", "'a.md'"], id="source"),
        pytest.param({"source_id": "a.md", "revision_id": "r2"}, "unknown_revision", ["'r2'", "'r1'"], id="revision"),
    ],
)  # fmt: skip
def test_not_located(guide, evidence_of, evidence, kind, words):
    (found,), (problem,) = evidence_of(guide, {"evidence_id": "mine", **evidence})
    assert (problem["kind"], problem["warning"]) == (kind, False)
    assert all(word in problem["message"] for word in ["'mine'", *words])
    assert (found["spans"], found["parsed"], found["needs"]) == ([], None, [])
    missing = {"unknown_source": "missing_source", "unknown_revision": "missing_revision"}
    assert found["found"] == missing.get(kind)


def test_a_wrong_piece_of_evidence_leaves_the_others_alone(guide, evidence_of):
    found, problems = evidence_of(guide, at(0, 2, quote="x"), at(9, 12), {"source_id": "no"})
    assert [e["found"] for e in found] == [None, "located", "missing_source"]
    assert [p["kind"] for p in problems] == ["quote_mismatch", "unknown_source"]


@pytest.mark.parametrize(
    ("start", "end", "words"),
    [
        pytest.param(2, 3, None, id="code points"),
        pytest.param(3, 4, "UTF-16 units, which are the code points [2, 3)", id="UTF-16 units"),
        pytest.param(5, 6, "UTF-8 bytes, which are the code points [2, 3)", id="UTF-8 bytes"),
        pytest.param(1, 2, "the quote stands at [2, 3)", id="neither"),
    ],
)
def test_offsets_counted_in_something_else(make_corpus, evidence_of, start, end, words):
    corpus = make_corpus({"source_id": "a.md", "text": EMOJI})
    found, problems = evidence_of(corpus, at(start, end, quote="B"))
    assert spans(found) == ([[(2, 3)]] if words is None else [[]])
    assert [words in p["message"] for p in problems] == ([] if words is None else [True])


def test_offsets_outside_the_text_that_fit_as_bytes(make_corpus, evidence_of):
    corpus = make_corpus({"source_id": "a.md", "text": EMOJI})
    _, (problem,) = evidence_of(corpus, at(9, 12))
    assert problem["kind"] == "offset_outside_text"
    assert "UTF-8 bytes, which are the code points [4, 5)" in problem["message"]


@pytest.mark.parametrize(
    ("text", "quote", "want"),
    [
        pytest.param("\ufeffone two", "one", (1, 4), id="a BOM counts"),
        pytest.param("one\r\ntwo", "one\ntwo", (0, 8), id="CRLF counts"),
        pytest.param(
            unicodedata.normalize("NFD", "각 한국어"), "한국어", (4, 12), id="NFD source, NFC gold"
        ),
        pytest.param(
            "각 한국어", unicodedata.normalize("NFD", "한국어"), (2, 5), id="NFC source, NFD gold"
        ),
        pytest.param("😀 한\x00국", "한\x00국", (2, 5), id="NUL and astral characters"),
    ],
)
def test_offsets_are_those_of_the_canonical_text(make_corpus, evidence_of, text, quote, want):
    corpus = make_corpus({"source_id": "a.md", "text": text})
    found, problems = evidence_of(corpus, {"source_id": "a.md", "quote": quote})
    assert (problems, spans(found)) == ([], [[want]])


def test_a_quote_without_a_source_is_every_place_where_it_occurs(make_corpus, evidence_of):
    corpus = make_corpus(
        {"source_id": "b", "text": "5 days. 5 days."},
        {"source_id": "a", "text": "in 5 days"},
        {"source_id": "a", "revision_id": "r0", "text": "5 days", "current": False},
        {"source_id": "c", "text": "5\ndays"},
    )
    found, problems = evidence_of(
        corpus, {"quote": "5 days", "aspects": ["x"], "relevance": 2}, {"source_id": "c"}
    )
    assert problems == []
    ids = [(e["evidence_id"], e["group_id"], e["source_id"], e["revision_id"]) for e in found]
    assert ids == [
        ("e1", "e1", "a", "r1"), ("e1#2", "e1", "b", "r1"), ("e1#3", "e1", "b", "r1"),
        ("e2", "e2", "c", "r1"),
    ]  # fmt: skip
    assert spans(found) == [[(3, 9)], [(0, 6)], [(8, 14)], [(0, 6)]]
    assert [e["relevance"] for e in found] == [2, 2, 2, 3]
    assert [e["aspects"] for e in found] == [["x"], ["x"], ["x"], []]


def test_a_quote_that_stands_nowhere_exactly_is_found_by_its_form(make_corpus, evidence_of):
    corpus = make_corpus(
        {"source_id": "a", "text": "5\ndays"}, {"source_id": "b", "text": "5  days"}
    )
    found, problems = evidence_of(corpus, {"quote": " 5 days "})
    assert (problems, spans(found)) == ([], [[(0, 6)], [(0, 7)]])


def test_half_a_letter_is_found_exactly(make_corpus, evidence_of):
    corpus = make_corpus({"source_id": "a", "text": "cafe\u0301"})
    found, problems = evidence_of(corpus, {"quote": "e"})
    assert (problems, spans(found)) == ([], [[(3, 4)]])


def test_a_quote_that_says_nothing_is_refused(make_corpus, evidence_of):
    texts = dict.fromkeys("xyz", "a " * 600)
    corpus = make_corpus(*({"source_id": name, "text": text} for name, text in texts.items()))
    for shards in (1, 3):
        found, (problem,) = evidence_of(corpus, {"quote": "a"}, settings={"shards": shards})
        assert (problem["kind"], len(found)) == ("quote_ambiguous", 1)
        assert "more than 1000 places" in problem["message"]
    corpus = make_corpus({"source_id": "x", "text": "a " * 1000})
    found, problems = evidence_of(corpus, {"quote": "a"})
    assert (len(found), problems) == (1000, [])


def test_old_revisions_are_found_when_named(make_corpus, evidence_of):
    corpus = make_corpus(
        {"source_id": "a", "revision_id": "2025", "text": "15 days", "current": False},
        {"source_id": "a", "revision_id": "2026", "text": "20 days"},
    )
    found, problems = evidence_of(
        corpus, {"source_id": "a", "quote": "days"},
        {"source_id": "a", "revision_id": "2025", "quote": "15"},
    )  # fmt: skip
    assert problems == []
    assert [e["revision_id"] for e in found] == ["2026", "2025"]
    _, (problem,) = evidence_of(corpus, {"source_id": "a", "quote": "15"})
    assert "revision '2026'" in problem["message"]


@pytest.mark.parametrize(
    ("document", "words"),
    [
        pytest.param({"text": "x", "current": False, "deleted_at": "2026-05-04"}, "the source is deleted (2026-05-04)", id="deleted"),
        pytest.param({"text": None, "deleted_at": "2026-05-04"}, "the source is deleted (2026-05-04)", id="a tombstone"),
        pytest.param({"text": "x", "current": False}, "no revision that is valid; known are 'r1'", id="not valid yet"),
    ],
)  # fmt: skip
def test_a_source_without_a_valid_revision(make_corpus, evidence_of, moment, document, words):
    if "deleted_at" in document:
        document = {**document, "deleted_at": moment(document["deleted_at"])}
    corpus = make_corpus({"source_id": "a", **document})
    (found,), (problem,) = evidence_of(corpus, {"source_id": "a"})
    assert (found["found"], problem["kind"]) == ("missing_revision", "unknown_revision")
    assert words in problem["message"]


def test_the_nearest_source_among_very_many(make_corpus, evidence_of):
    corpus = make_corpus(*({"source_id": f"doc-{n:05}", "text": None} for n in range(600)))
    _, (problem,) = evidence_of(corpus, {"source_id": "doc-00599x"})
    assert "did you mean 'doc-00599'?" in problem["message"]


@pytest.mark.parametrize(
    ("stated", "meant"),
    [
        pytest.param("CACM-756", "CACM-0756", id="zeros that were left out"),
        pytest.param("cacm-3176", "CACM-3176", id="other case"),
        pytest.param("\u1112\u1161\u11ab-1", "한-01", id="NFD and a zero"),
    ],
)
def test_a_source_that_is_written_otherwise(make_corpus, evidence_of, stated, meant):
    """Rather than another one that merely looks like it."""
    names = ("CACM-0756", "CACM-3176", "CACM-1756", "CACM-7560", "한-01")
    corpus = make_corpus(*({"source_id": name, "text": None} for name in names))
    _, (problem,) = evidence_of(corpus, {"source_id": stated})
    assert f"did you mean {meant!r}?" in problem["message"]


def test_front_matter_is_no_part_of_the_whole_document(make_corpus, evidence_of):
    text = "---\ntitle: x\n---\nBody of it."
    corpus = make_corpus({"source_id": "a", "text": text, "text_start": 17, "elements": [
        {"element_id": "paragraph-1", "kind": "paragraph", "start_char": 17, "end_char": 28}]})  # fmt: skip
    found, _ = evidence_of(corpus, {"source_id": "a"})
    assert spans(found) == [[(17, 28)]]


def test_an_empty_document_holds_no_evidence(make_corpus, evidence_of):
    _, (problem,) = evidence_of(make_corpus({"source_id": "a", "text": ""}), {"source_id": "a"})
    assert problem["kind"] == "empty_source"


@pytest.mark.parametrize(
    ("elements", "full", "parsed"),
    [
        pytest.param([(0, 8)], 0.8, True, id="8 of 10"),
        pytest.param([(0, 7)], 0.8, False, id="7 of 10"),
        pytest.param([(0, 4), (2, 6), (6, 8)], 0.8, True, id="overlapping elements count once"),
        pytest.param([(0, 7), (1, 7), (2, 7)], 0.8, False, id="nested elements count once"),
        pytest.param([], 0.8, False, id="nothing was parsed"),
        pytest.param([(0, 7)], 0.7, True, id="another share"),
    ],
)
def test_gold_that_parsing_lost(make_corpus, evidence_of, elements, full, parsed):
    parts = [{"element_id": f"p-{n}", "kind": "paragraph", "start_char": s, "end_char": e}
             for n, (s, e) in enumerate(elements)]  # fmt: skip
    corpus = make_corpus({"source_id": "a", "text": "0123456789 ", "elements": parts})
    (found,), problems = evidence_of(
        corpus, {"source_id": "a", "quote": "0123456789"}, settings={"full": full}
    )
    assert (found["parsed"], problems) == (parsed, [])


def test_white_space_between_elements_is_not_lost(make_corpus, evidence_of):
    parts = [{"element_id": "p-1", "kind": "paragraph", "start_char": 0, "end_char": 2},
             {"element_id": "p-2", "kind": "paragraph", "start_char": 4, "end_char": 6}]  # fmt: skip
    corpus = make_corpus({"source_id": "a", "text": "Hi\n\nOk", "elements": parts})
    (found,), problems = evidence_of(corpus, {"source_id": "a", "quote": "Hi\n\nOk"})
    assert (found["parsed"], problems) == (True, [])
