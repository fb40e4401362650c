"""The parsing stage: a row per document, whoever shares the batch."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rayeval.corpus.config import Parse
from rayeval.corpus.parse import build
from rayeval.corpus.read import read_documents, units
from rayeval.tables import DOCUMENTS, PARSED

untimed = settings(deadline=None)  # the machine's load is no property of the code

PARSE = build(Parse())
TEXTS = {
    "markdown": "# A\n\n- b\n\n|c|\n|-|\n",
    "html": "<h1>A</h1><p>b &amp; c",
    "text": "a\n\nb",
}


def document(source, format_, text, start=0):
    return {
        "source_id": source,
        "revision_id": "1",
        "format": format_,
        "text": text,
        "text_start": start,
    }


def table(rows):
    return pa.Table.from_pylist(rows, schema=DOCUMENTS)


def test_each_document_is_parsed_by_its_format():
    rows = [document(name, name, text) for name, text in TEXTS.items()]
    parsed = PARSE(table(rows))
    assert parsed.schema.equals(PARSED)
    assert parsed["source_id"].to_pylist() == ["markdown", "html", "text"]
    kinds = [[e["kind"] for e in row] for row in parsed["elements"].to_pylist()]
    assert kinds == [
        ["heading", "list", "item", "table", "row", "cell"],
        ["heading", "paragraph"],
        ["paragraph", "paragraph"],
    ]


def test_elements_say_where_they_stand_and_what_shows_if_that_differs():
    rows = [document("a", "markdown", "\ufeff# A\n\nb", 1), document("b", "html", "<p>b &amp; c")]
    (_, paragraph), (shown,) = PARSE(table(rows))["elements"].to_pylist()
    assert paragraph == {
        "element_id": "paragraph-1",
        "kind": "paragraph",
        "level": None,
        "page": None,
        "start_char": 6,
        "end_char": 7,
        "heading_path": ["A"],
        "text": None,
        "pieces": None,
    }
    assert shown["text"] == "b & c"
    assert [tuple(piece.values()) for piece in shown["pieces"]] == [
        (3, 5, 2),
        (5, 10, 1),
        (10, 12, 2),
    ]


@pytest.mark.parametrize(
    "rows", [[], [document("gone", "text", None)]], ids=["nothing", "a tombstone"]
)
def test_what_has_no_text_has_no_elements(rows):
    parsed = PARSE(table(rows))
    assert parsed.schema.equals(PARSED)
    assert parsed["elements"].to_pylist() == [[] for _ in rows]


documents = st.lists(
    st.one_of(
        st.sampled_from(sorted(TEXTS)).map(lambda name: document(name, name, TEXTS[name])),
        st.just(document("gone", "text", None)),
    ),
    max_size=6,
)


@untimed
@given(documents, st.integers(0, 6))
def test_any_split_gives_the_same_rows(rows, cut):
    whole = PARSE(table(rows))
    parts = pa.concat_tables([PARSE(table(rows[:cut])), PARSE(table(rows[cut:]))])
    assert parts.equals(whole)


@pytest.mark.data
@pytest.mark.parametrize("name", ["wikitexts", "state_of_the_union", "chatlogs"])
def test_real_text_is_covered(shared_data, name):
    (unit,) = units(str(shared_data("chroma_chunking") / f"{name}.md"))
    for documents, problems in read_documents(unit):
        assert problems == []
        for text, elements in zip(
            documents["text"].to_pylist(), PARSE(documents)["elements"].to_pylist(), strict=True
        ):
            missed, at = "", 0
            for element in elements:
                missed += text[at : element["start_char"]]
                at = max(at, element["end_char"])
            assert not (missed + text[at:]).strip()
