"""The chunking stage: exact spans, stable ids, the same rows whoever shares the batch."""

import hashlib

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rayeval.chunk import stage
from rayeval.chunk.config import Fixed, Structure
from rayeval.chunk.tokens import Words
from rayeval.corpus.config import Parse
from rayeval.corpus.parse import build
from rayeval.corpus.read import read_documents, units
from rayeval.tables import CHUNKS, DOCUMENTS

untimed = settings(deadline=None)  # the machine's load is no property of the code
PARSE = build(Parse())


def document(source, text, format_="markdown", start=0, access=()):
    return {
        "source_id": source,
        "revision_id": "1",
        "text": text,
        "format": format_,
        "text_start": start,
        "access": list(access),
    }


def parsed(rows):
    table = pa.Table.from_pylist(rows, schema=DOCUMENTS)
    return table.append_column("elements", PARSE(table)["elements"])


def chunks(rows, config):
    return stage.build(config, Words())(parsed(rows))


def test_a_chunk_says_all_about_itself():
    text = "\ufeff---\na: b\n---\n# 제목\n\n본문 😀\n\n다음"
    (first, second) = chunks(
        [document("a", text, start=14, access=["hr"])], Structure(size=11)
    ).to_pylist()
    assert first == {
        "chunk_id": hashlib.sha256('["a","1",[[14,24]],"# 제목\\n\\n본문 😀"]'.encode()).hexdigest()[:32],
        "source_id": "a",
        "revision_id": "1",
        "spans": [{"start_char": 14, "end_char": 24}],
        "text": "# 제목\n\n본문 😀",
        "parent_id": None,
        "element_ids": ["heading-1", "paragraph-1"],
        "pages": [],
        "tokens": 6,
        "access": ["hr"],
    }  # fmt: skip
    assert second["spans"] == [{"start_char": 26, "end_char": 28}]
    assert second["element_ids"] == ["paragraph-2"]


def test_an_element_is_in_a_chunk_only_if_all_of_it_is():
    text = "# A  \n\nbc\n\ndef"  # white space after an element isn't missed
    found = chunks([document("a", text)], Fixed(size=3)).to_pylist()
    assert [chunk["text"] for chunk in found] == ["# A", "\nbc", "\n\nd", "ef"]
    assert [chunk["element_ids"] for chunk in found] == [["heading-1"], ["paragraph-1"], [], []]


def test_windows_of_html_are_of_what_shows_and_point_to_one_place_each():
    source = "<p>ab<b>cd</b> e&amp;f</p>\n<p>gh</p>"
    found = chunks([document("a", source, "html")], Fixed(size=4)).to_pylist()
    assert [chunk["text"] for chunk in found] == ["abcd", " e&f", "\ngh"]
    places = [(span["start_char"], span["end_char"]) for chunk in found for span in chunk["spans"]]
    assert [source[a:b] for a, b in places] == ["ab<b>cd", "</b> e&amp;f", "</p>\n<p>gh"]


def test_half_a_reference_points_to_all_of_it():
    found = chunks([document("a", "x&fjlig;y", "html")], Fixed(size=2)).to_pylist()
    assert [(c["text"], c["spans"][0]["start_char"], c["spans"][0]["end_char"]) for c in found] == [
        ("xf", 0, 8),
        ("jy", 1, 9),
    ]


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([], id="no document"),
        pytest.param([document("a", None, "text")], id="a tombstone"),
        pytest.param([document("a", " \n"), document("b", "<p></p>", "html")], id="nothing to see"),
    ],
)
@pytest.mark.parametrize("config", [Fixed(size=5), Structure(size=5)], ids=["fixed", "structure"])
def test_what_has_no_text_has_no_chunks(rows, config):
    found = chunks(rows, config)
    assert found.schema.equals(CHUNKS)
    assert found.num_rows == 0


def test_the_same_words_elsewhere_are_another_chunk():
    rows = [document("a", "x\n\nx"), document("b", "x")]
    ids = chunks(rows, Structure(size=1))["chunk_id"].to_pylist()
    assert len(set(ids)) == 3


blocks = st.sampled_from(
    ["# 가", "## b", "One. Two! 셋이다. 넷", "| a | b |\n|--|--|\n| c d | e |\n| f |", "- x\n  - y z",
     "```\nif x:\n    y\n```", "> q. r", "", "\u2028😀e\u0301", "aaaaaaaaaaaaaaaaaaaa"]
)  # fmt: skip
markdown = st.lists(blocks, max_size=8).map("\n\n".join)
html = st.lists(
    st.sampled_from(["<p>", "<h1>", "<li>", "<td>", "<tr>", "<table>", "</table>", "a b. c", "&lt;", "<b>", " 가😀 "]),
    max_size=12,
).map("".join)  # fmt: skip
texts = st.one_of(st.tuples(markdown, st.just("markdown")), st.tuples(html, st.just("html")))
configs = st.builds(
    lambda kind, size, overlap, unit: kind(size=size, overlap=min(overlap, size - 1), unit=unit),
    st.sampled_from([Fixed, Structure]),
    st.integers(1, 30),
    st.integers(0, 12),
    st.sampled_from(["chars", "words", "tokens"]),
)


@untimed
@given(markdown, configs, st.sampled_from(["", "\ufeff", "---\na: b\n---\n"]))
def test_chunks_are_their_source_and_hold_all_of_it(text, config, front):
    source = front + text
    found = chunks([document("a", source, start=len(front))], config).to_pylist()
    places = [(c["spans"][0]["start_char"], c["spans"][0]["end_char"]) for c in found]
    assert [c["text"] for c in found] == [source[a:b] for a, b in places]
    assert all(c["text"].strip() and len(c["spans"]) == 1 for c in found)
    assert places == sorted(set(places))
    covered = {i for a, b in places for i in range(a, b)}
    assert covered >= {i for i in range(len(front), len(source)) if not source[i].isspace()}
    if not config.overlap:
        assert sum(b - a for a, b in places) == len(covered)


@untimed
@given(html, configs)
def test_chunks_of_html_hold_all_that_shows(source, config):
    table = parsed([document("a", source, "html")])
    found = stage.build(config, Words())(table).to_pylist()
    shown = [
        i
        for e in table["elements"][0].as_py()
        for piece in e["pieces"]
        for i in range(piece["start_char"], piece["end_char"])
        if not source[i].isspace()
        and piece["text_chars"] == piece["end_char"] - piece["start_char"]
    ]
    covered = {i for c in found for s in c["spans"] for i in range(s["start_char"], s["end_char"])}
    assert covered >= set(shown)
    visible = {char for e in table["elements"][0].as_py() for char in e["text"]}
    assert {char for c in found for char in c["text"]} <= visible | {"\n"}


@untimed
@given(texts, configs.filter(lambda config: config.kind == "structure"))
def test_structure_keeps_sections_rows_and_size(document_, config):
    text, format_ = document_
    table = parsed([document("a", text, format_)])
    found = stage.build(config, Words())(table)
    elements = table["elements"][0].as_py()
    rows = [e for e in elements if e["kind"] == "row"]
    top = [e for e in elements if not any(holds(o, e) for o in elements)]
    heads = [e["start_char"] for before, e in zip([None, *top], top, strict=False)
             if e["kind"] == "heading" and before and before["kind"] != "heading"]  # fmt: skip
    for chunk, size in zip(found.to_pylist(), sizes(found, config.unit), strict=True):
        (span,) = chunk["spans"]
        a, b = span["start_char"], span["end_char"]
        assert not any(a < head < b for head in heads)
        touched = [r for r in rows if r["start_char"] < b and r["end_char"] > a]
        lengths = [r["end_char"] - r["start_char"] for r in touched]
        assert all(text[max(a, r["start_char"]) : min(b, r["end_char"])].strip()
                   == text[r["start_char"] : r["end_char"]].strip() for r in touched)  # fmt: skip
        assert size <= config.size or lengths


def holds(outer, inner):
    return outer is not inner and (
        outer["start_char"] <= inner["start_char"] and inner["end_char"] <= outer["end_char"]
    )


def sizes(found, unit):
    if unit == "tokens":
        return found["tokens"].to_pylist()
    texts = found["text"].to_pylist()
    return [len(text) if unit == "chars" else len(text.split()) for text in texts]


@untimed
@given(st.lists(texts, max_size=4), configs, st.integers(0, 4))
def test_any_split_gives_the_same_rows(sources, config, cut):
    rows = [document(f"{i}", text, format_) for i, (text, format_) in enumerate(sources)]
    whole = chunks(rows, config)
    assert pa.concat_tables([chunks(rows[:cut], config), chunks(rows[cut:], config)]).equals(whole)


@pytest.mark.data
@pytest.mark.parametrize(
    "config",
    [
        Fixed(size=400, overlap=50),
        Structure(size=400),
        Structure(size=80, overlap=20, unit="tokens"),
    ],
    ids=["fixed", "structure", "structure by tokens"],
)
def test_real_documents(shared_data, config):
    (unit,) = units(str(shared_data("chroma_chunking")))
    chunker = stage.build(config, Words())
    for table, _ in read_documents(unit):
        found = chunker(table.append_column("elements", PARSE(table)["elements"]))
        texts = dict(zip(table["source_id"].to_pylist(), table["text"].to_pylist(), strict=True))
        size = found["tokens"] if config.unit == "tokens" else pc.utf8_length(found["text"])
        assert pc.max(size).as_py() <= config.size
        assert len(set(found["chunk_id"].to_pylist())) == found.num_rows
        for name, text in texts.items():
            mine = found.filter(pc.equal(found["source_id"], name)).to_pylist()
            covered = np.zeros(len(text), dtype=bool)
            for chunk in mine:
                (span,) = chunk["spans"]
                covered[span["start_char"] : span["end_char"]] = True
                assert text[span["start_char"] : span["end_char"]] == chunk["text"]
            assert not "".join(np.array(list(text))[~covered]).strip()
