"""Looking chunks up: the same answers from any number of shards, as a plain search gives."""

from dataclasses import dataclass

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rayeval.chunk.lookup import Candidates, GoldChunks, Neighbours, Passages
from rayeval.tables import CHUNKS, HITS, LOCATED, PASSAGES, TEXTS, empty

untimed = settings(deadline=None)  # the machine's load is no property of the code


@dataclass
class Shard:
    parts: list
    number: int = 0
    count: int = 1

    def tables(self, name):
        assert name == "chunks"
        return iter(self.parts)


def chunk(chunk_id, source="a", start=0, end=1, text="x", revision="1"):
    spans = [{"start_char": start, "end_char": end}] if isinstance(start, int) else start
    return {
        "chunk_id": chunk_id,
        "source_id": source,
        "revision_id": revision,
        "spans": spans,
        "text": text,
        "tokens": 7,
    }


def ask(lookup, batch, *shards):
    parts = []
    for rows in shards:
        tables = [pa.Table.from_pylist([row], schema=CHUNKS) for row in rows]
        parts.append(lookup.load(Shard(tables))(batch))
    assert all(part.num_rows == batch.num_rows for part in parts)
    return lookup.gather(parts)


def hits(*rows):
    return pa.array(
        [None if row is None else [{"chunk_id": c, "score": 1.0} for c in row] for row in rows],
        HITS,
    )


def ids(column):
    return [[item["chunk_id"] for item in row] for row in column.to_pylist()]


CHUNK = [chunk(c, start=i, end=i + 1, text=c * 2) for i, c in enumerate("abcd")]
SPLITS = [
    pytest.param([CHUNK], id="one shard"),
    pytest.param([CHUNK[:2], CHUNK[2:]], id="two shards"),
    pytest.param([CHUNK[3:], [], CHUNK[:3]], id="an empty shard"),
]


@pytest.mark.parametrize("shards", SPLITS)
def test_passages_are_all_hits_of_all_columns_once(shards):
    batch = pa.table({"x": hits("da", "", "b", None), "y": hits("ac", "", None, None)})
    found = ask(Passages(("x", "y")), batch, *shards)
    assert found["passages"].type == PASSAGES
    assert ids(found["passages"]) == [["a", "c", "d"], [], ["b"], []]
    assert found["passages"].to_pylist()[2] == [
        {
            "chunk_id": "b",
            "source_id": "a",
            "revision_id": "1",
            "spans": [{"start_char": 1, "end_char": 2}],
            "tokens": 7,
        }
    ]


@pytest.mark.parametrize("shards", SPLITS)
def test_candidates_are_the_first_hits_with_their_text(shards):
    batch = pa.table({"fused": hits("dca", "", None, "b")})
    found = ask(Candidates("fused", 2), batch, *shards)
    assert found["candidates"].to_pylist() == [
        [{"chunk_id": "c", "text": "cc"}, {"chunk_id": "d", "text": "dd"}],
        [],
        [],
        [{"chunk_id": "b", "text": "bb"}],
    ]


def test_an_unknown_id_is_in_no_shard():
    batch = pa.table({"fused": hits(["a", "nope", "zz", "0"])})
    assert ids(ask(Candidates("fused", 9), batch, CHUNK)["candidates"]) == [["a"]]


def test_gathering_doesnt_care_how():
    lookup = Passages(("x",))
    batch = pa.table({"x": hits("dacb", "b")})
    a, b, c = (ask(lookup, batch, part) for part in (CHUNK[:1], CHUNK[1:3], CHUNK[3:]))
    whole = lookup.gather([a, b, c])
    assert whole.equals(lookup.gather([lookup.gather([c, a]), b]))
    assert whole.equals(lookup.gather([a, lookup.gather([b, c])]))


def evidence(spans, source="a", revision="1", gold=True):
    ranges = [{"start_char": a, "end_char": b} for a, b in spans]
    return {"source_id": source, "revision_id": revision, "spans": ranges, "gold": gold}


def questions(*rows):
    return pa.table({"evidence": pa.array(list(rows), pa.list_(LOCATED))})


LAID = [
    chunk("a1", "a", 0, 10),
    chunk("a2", "a", 5, 20),
    chunk("a3", "a", 20, 30),
    chunk("a4", "a", [{"start_char": 0, "end_char": 2}, {"start_char": 40, "end_char": 50}]),
    chunk("b1", "b", 0, 100),
    chunk("c1", "a", 0, 100, revision="2"),
]


@pytest.mark.parametrize(
    ("row", "want"),
    [
        pytest.param([evidence([(6, 7)])], ["a1", "a2"], id="in two that overlap"),
        pytest.param([evidence([(10, 20)])], ["a2"], id="touching is not overlapping"),
        pytest.param([evidence([(29, 41)])], ["a3", "a4"], id="the second span of a chunk"),
        pytest.param([evidence([(0, 1), (45, 46)])], ["a1", "a4"], id="two spans of one evidence"),
        pytest.param([evidence([(60, 70)])], [], id="beyond every chunk of the document"),
        pytest.param([evidence([(0, 10**12)])], ["a1", "a2", "a3", "a4"], id="all of it"),
        pytest.param([evidence([(0, 5)], revision="2")], ["c1"], id="another revision"),
        pytest.param([evidence([(0, 5)], source="z")], [], id="a source without chunks"),
        pytest.param([evidence([(0, 5)], source=None, revision=None)], [], id="not located"),
        pytest.param([evidence([(0, 5)], gold=False)], [], id="not gold"),
        pytest.param([evidence([(0, 5)], gold=None)], [], id="gold unknown"),
        pytest.param([evidence([])], [], id="no spans"),
        pytest.param([evidence([(25, 26)]), evidence([(0, 5)], "b")], ["a3", "b1"], id="two evidences"),
        pytest.param([], [], id="no evidence"),
        pytest.param(None, [], id="null"),
    ],
)  # fmt: skip
def test_gold_chunks_share_a_character_with_gold(row, want):
    batch = questions([evidence([(0, 1)], "b")], row)
    for shards in ([LAID], [LAID[::2], LAID[1::2]], [[], LAID]):
        found = ask(GoldChunks(), batch, *shards)
        assert found["gold_chunks"].type == PASSAGES
        assert ids(found["gold_chunks"]) == [["b1"], want]


ranges = st.lists(
    st.tuples(st.integers(0, 20), st.integers(1, 9)).map(lambda t: (t[0], t[0] + t[1])), max_size=3
)
sources = st.sampled_from("ab")


@untimed
@given(
    st.lists(st.tuples(sources, ranges.filter(len)), max_size=8),
    st.lists(st.lists(st.tuples(sources, ranges), max_size=2), min_size=1, max_size=3),
    st.integers(0, 8),
)
def test_gold_chunks_are_what_a_plain_search_finds(laid, asked, cut):
    chunks = [
        chunk(f"c{i}", source, [{"start_char": a, "end_char": b} for a, b in spans])
        for i, (source, spans) in enumerate(laid)
    ]
    batch = questions(*([evidence(spans, source) for source, spans in row] for row in asked))
    want = [
        [
            f"c{i}"
            for i, (source, spans) in enumerate(laid)
            if any(
                source == other and a < d and c < b
                for other, gold in row
                for a, b in spans
                for c, d in gold
            )
        ]
        for row in asked
    ]
    assert ids(ask(GoldChunks(), batch, chunks[:cut], chunks[cut:])["gold_chunks"]) == want


def around(chunks, *wanted):
    batch = pa.table({"wanted": pa.array([list(wanted)], TEXTS)})
    (row,) = ask(Neighbours(), batch, chunks)["neighbours"].to_pylist()
    return {item["chunk_id"]: (item["text"], item["joined"]) for item in row}


def verbatim(source, *cuts):
    return [chunk(f"{i}", start=a, end=b, text=source[a:b]) for i, (a, b) in enumerate(cuts)]


def test_a_word_cut_in_two_is_whole_again():
    text = "장비 신청은 IT 헬프데스크 포털에서 하며 처리에는 영업일 기준 5일이 걸린다"
    parts = verbatim(text, (0, 13), (13, len(text)))
    assert parts[0]["text"].endswith("헬프데")
    assert around(parts, "1") == {"1": (text[13:], [text])}
    assert around(parts, "0") == {"0": (text[:13], [text])}


@pytest.mark.parametrize(
    ("cuts", "want"),
    [
        pytest.param([(0, 3), (3, 6)], "abc😀ef", id="touching"),
        pytest.param([(0, 4), (2, 6)], "abc😀ef", id="overlapping"),
        pytest.param([(0, 6), (1, 5)], "abc😀ef", id="one in the other"),
        pytest.param([(0, 2), (3, 6)], "ab\n😀ef", id="apart"),
    ],
)
def test_texts_are_joined_without_losing_or_repeating(cuts, want):
    assert around(verbatim("abc😀ef", *cuts), "0")["0"][1] == [want]
    assert around(verbatim("abc😀ef", *cuts), "1")["1"][1] == [want]


@pytest.mark.parametrize(
    ("left", "right", "want"),
    [
        pytest.param(chunk("l", start=0, end=9, text="ab"), chunk("r", start=9, end=20, text="cd"), "abcd", id="shown text that goes on"),
        pytest.param(chunk("l", start=0, end=9, text="ab"), chunk("r", start=5, end=7, text="bc"), "ab\nbc", id="shown text that can't be aligned"),
        pytest.param(chunk("l", start=[{"start_char": 0, "end_char": 1}, {"start_char": 3, "end_char": 4}], text="abcd"), chunk("r", start=2, end=6, text="cdef"), "abcd\ncdef", id="two spans can't be aligned"),
    ],
)  # fmt: skip
def test_only_exact_text_is_cut(left, right, want):
    assert around([left, right], "l")["l"][1] == [want]


def test_neighbours_are_of_the_same_document_before_and_after():
    chunks = [
        *verbatim("abcdef", (4, 6), (0, 2), (2, 4)),
        chunk("x", "b"),
        chunk("y", revision="2"),
    ]
    assert around(chunks, "2", "x", "0") == {
        "2": ("cd", ["abcd", "cdef"]),
        "x": ("x", []),
        "0": ("ef", ["cdef"]),
    }


def test_a_joined_text_names_the_chunk_that_it_was_joined_with():
    chunks = verbatim("abcdef", (4, 6), (0, 2), (2, 4))
    batch = pa.table({"wanted": pa.array([["0", "1", "2"]], TEXTS)})
    (row,) = ask(Neighbours(), batch, chunks)["neighbours"].to_pylist()
    assert {item["chunk_id"]: item["beside"] for item in row} == {
        "0": ["2"], "1": ["2"], "2": ["1", "0"],
    }  # fmt: skip


def test_neighbours_of_nothing():
    batch = pa.table({"wanted": pa.array([[], None, ["nope"]], TEXTS)})
    for rows in ([], CHUNK):
        assert ask(Neighbours(), batch, rows)["neighbours"].to_pylist() == [[], [], []]


@pytest.mark.parametrize(
    ("lookup", "batch"),
    [
        pytest.param(Passages(("x",)), pa.table({"x": hits()}), id="passages"),
        pytest.param(Candidates("x", 3), pa.table({"x": hits()}), id="candidates"),
        pytest.param(GoldChunks(), questions(), id="gold chunks"),
        pytest.param(Neighbours(), pa.table({"wanted": pa.array([], TEXTS)}), id="neighbours"),
    ],
)
def test_an_empty_batch_or_shard_has_an_empty_answer(lookup, batch):
    assert ask(lookup, batch, CHUNK, []).num_rows == 0
    assert lookup.load(Shard([empty(CHUNKS)]))(batch).num_rows == 0


@untimed
@given(st.lists(st.lists(st.sampled_from("abcdxz"), unique=True), max_size=5), st.integers(0, 5))
def test_any_split_of_a_batch_gives_the_same_rows(rows, cut):
    batch = pa.table({"x": hits(*rows), "wanted": pa.array(rows, TEXTS)})
    for lookup in (Passages(("x",)), Candidates("x", 2), Neighbours()):
        whole = ask(lookup, batch, CHUNK)
        parts = [ask(lookup, part, CHUNK) for part in (batch.slice(0, cut), batch.slice(cut))]
        assert pa.concat_tables(parts).equals(whole)
