import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from retrieve_lexical_corpus import Corpus

from rayeval.retrieve.lexical.analyzers import CharNgram
from rayeval.retrieve.lexical.terms import (
    STATISTICS,
    TERMS,
    TermCounts,
    add_statistics,
    statistics,
)

TEXTS = {"x": "b a b", "y": "", "z": "가 a"}


def counted(corpus):
    return TermCounts(corpus.analyzer)(corpus.chunks())


def test_counts_of_a_chunk_are_distinct_sorted_and_complete():
    table = counted(Corpus(TEXTS))
    assert table.schema == TERMS
    assert table.to_pylist() == [
        {"chunk_id": "x", "terms": ["a", "b"], "counts": [1, 2], "length": 3},
        {"chunk_id": "y", "terms": [], "counts": [], "length": 0},
        {"chunk_id": "z", "terms": ["a", "가"], "counts": [1, 1], "length": 2},
    ]


def test_counts_of_no_chunks():
    assert counted(Corpus({})).equals(TERMS.empty_table())


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text("ab 가"), max_size=6))
def test_a_chunk_s_counts_owe_nothing_to_its_batch(texts):
    chunks = Corpus({f"c{n}": text for n, text in enumerate(texts)}).chunks()
    stage = TermCounts(CharNgram())
    single = [stage(chunks.slice(n, 1)) for n in range(chunks.num_rows)]
    assert pa.concat_tables([TERMS.empty_table(), *single]).equals(stage(chunks))


def test_statistics_count_chunks_and_occurrences_of_every_term_and_of_all():
    table = statistics([counted(Corpus(TEXTS))])
    assert table.schema == STATISTICS
    assert table.to_pylist() == [
        {"term": None, "chunks": 3, "occurrences": 5},
        {"term": "a", "chunks": 2, "occurrences": 2},
        {"term": "b", "chunks": 1, "occurrences": 2},
        {"term": "가", "chunks": 1, "occurrences": 1},
    ]


@pytest.mark.parametrize("parts", [[], [TERMS.empty_table()]], ids=["no parts", "an empty part"])
def test_statistics_of_nothing(parts):
    assert statistics(parts).to_pylist() == [{"term": None, "chunks": 0, "occurrences": 0}]


def test_statistics_of_shards_add_up_in_any_order_and_grouping():
    parts = [counted(Corpus({i: text})) for i, text in TEXTS.items()]
    whole = statistics(parts)
    each = [statistics([part]) for part in parts]
    assert add_statistics(each[::-1]).equals(whole)
    assert add_statistics([add_statistics(each[1:]), each[0]]).equals(whole)
    assert statistics([counted(Corpus(TEXTS))]).equals(whole)
