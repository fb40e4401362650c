import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from retrieve_lexical_corpus import Corpus, answer, asked, hits, search

from rayeval.retrieve.filter import Filter
from rayeval.retrieve.lexical import index
from rayeval.retrieve.lexical.bm25 import Bm25
from rayeval.retrieve.lexical.ranks import Bm25Ranks, Bm25Scores
from rayeval.tables import HITS, TEXTS

WORDS = st.lists(st.sampled_from("abcd"), max_size=5).map(" ".join)
FILTER = Filter(access=True, current=True)


def standing(corpus, questions, wanted, *groups, principals=None):
    """[[(chunk_id, score, rank)]] of the wanted chunks, in two scatters."""
    config = Bm25(analyzer=corpus.analyzer)
    shards = corpus.shards(*groups)
    batch = asked(questions, principals, wanted=pa.array(wanted, TEXTS))
    scores = answer(Bm25Scores(config), shards, batch)["scores"]
    assert scores.type == HITS
    batch = asked(questions, principals, scores=scores)
    ranks = answer(Bm25Ranks(config, FILTER), shards, batch)["outranked_by"]
    return [
        [(hit["chunk_id"], hit["score"], n + 1) for hit, n in zip(*row, strict=True)]
        for row in zip(scores.to_pylist(), ranks.to_pylist(), strict=True)
    ]


def test_scores_are_those_of_the_search_and_ranks_its_places():
    corpus = Corpus({"d": "a", "c": "a", "b": "a a", "a": "z", "e": "b"})
    ((first, *_, last),) = hits(search(corpus, ["a"]))
    assert standing(corpus, ["a"], [["d", "b", "a", "elsewhere"]]) == [
        [("b", first[1], 1), ("d", last[1], 3)]
    ]


def test_a_hidden_chunk_outranks_nobody_and_is_ranked_among_the_visible():
    corpus = Corpus(
        {"a": "w w", "b": "w", "c": "w", "d": "w"}, access={"a": ["hr"]}, stale=frozenset("b")
    )
    ranks = standing(corpus, ["w"] * 2, [["a", "b", "d"]] * 2, principals=[[], ["hr"]])
    assert [[rank for _, _, rank in row] for row in ranks] == [[1, 1, 2], [1, 2, 3]]


def test_no_questions_no_wanted_no_chunks():
    assert standing(Corpus({"a": "w"}), [], []) == []
    assert standing(Corpus({"a": "w"}), ["w"], [None]) == [[]]
    assert standing(Corpus({}), ["w"], [["a"]]) == [[]]


@settings(max_examples=40, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=8), st.lists(WORDS, max_size=4), st.data())
def test_ranks_agree_with_a_full_sort_over_any_shards(texts, questions, data):
    names = [f"c{n}" for n in range(len(texts))]
    stale = data.draw(st.frozensets(st.sampled_from(names)))
    corpus = Corpus(dict(zip(names, texts, strict=True)), stale=stale)
    cut = data.draw(st.integers(0, len(names)))
    groups = [names[cut:], names[:cut]]
    everything = hits(search(corpus, questions, depth=len(names)))
    found = standing(corpus, questions, [names] * len(questions), *groups)
    assert found == standing(corpus, questions, [names[::-1]] * len(questions))
    for row, every in zip(found, everything, strict=True):
        assert {(chunk, score) for chunk, score, _ in row} == set(every)
        for chunk, score, rank in row:
            before = [h for h in every if (-h[1], h[0]) < (-score, chunk) and h[0] not in stale]
            assert rank == len(before) + 1


@pytest.mark.parametrize("block_bytes", [1, 100, 2**20])
def test_blocks_change_nothing(monkeypatch, block_bytes):
    corpus = Corpus({f"c{n}": "w " * (n % 3 + 1) for n in range(7)})
    want = standing(corpus, ["w"] * 5, [list(corpus.texts)] * 5)
    monkeypatch.setattr(index, "BLOCK_BYTES", block_bytes)
    assert standing(corpus, ["w"] * 5, [list(corpus.texts)] * 5) == want
