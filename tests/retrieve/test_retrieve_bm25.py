import itertools
import math
from collections import Counter

import bm25s
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import settings as run
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from retrieve_lexical_corpus import Corpus, asked, hits, ids, search

from rayeval.retrieve.filter import Filter
from rayeval.retrieve.lexical import index
from rayeval.retrieve.lexical.analyzers import CharNgram, Kiwi, UnicodeWords, Whitespace
from rayeval.retrieve.lexical.bm25 import Bm25, Bm25Search
from rayeval.tables import FOUND

law = run(max_examples=40, deadline=None)
WORDS = st.lists(st.sampled_from("abcde"), max_size=6).map(" ".join)
TEXTS = st.lists(WORDS, min_size=1, max_size=9)


def by_hand(texts, question, *, k1=1.2, b=0.75):
    """{chunk_id: score}, from the formula, chunk by chunk."""
    bags = {i: Counter(text.split()) for i, text in texts.items()}
    mean = sum(bag.total() for bag in bags.values()) / len(bags)
    scores = {}
    for i, bag in bags.items():
        for term, times in sorted(Counter(question.split()).items()):
            if term in bag:
                df = sum(term in other for other in bags.values())
                idf = math.log(1 + (len(bags) - df + 0.5) / (df + 0.5))
                norm = k1 * (1 - b + b * bag.total() / mean)
                scores[i] = scores.get(i, 0) + times * idf * bag[term] / (bag[term] + norm)
    return scores


def named(texts):
    return {f"c{n}": text for n, text in enumerate(texts)}


def test_a_score_worked_by_hand():
    # N = 2, df = 1, idf = ln(1 + 1.5 / 1.5) = ln 2; lengths 1 and 3, mean 2.
    # norm = 1.2 * (0.25 + 0.75 * 3 / 2) = 1.65, tf = 2: 2 / 3.65. The question says it twice.
    corpus = Corpus({"x": "b", "y": "a a b"})
    [[(chunk, score)]] = hits(search(corpus, ["a a"]))
    assert chunk == "y"
    assert score == pytest.approx(2 * math.log(2) * 2 / 3.65, rel=1e-15)


def test_a_term_in_every_chunk_still_counts():
    [[(_, score), _]] = hits(search(Corpus({"x": "a", "y": "a"}), ["a"]))
    assert score == pytest.approx(math.log(1 + 0.5 / 2.5) / 2.2)


@pytest.mark.parametrize(
    ("question", "want"),
    [
        pytest.param("nothing here", [], id="no shared term is no hit"),
        pytest.param("", [], id="empty question"),
        pytest.param(" \u3000\n", [], id="white space only"),
        pytest.param("a", ["1", "2", "3"], id="ties by chunk id"),
        pytest.param("zebra a", ["3", "1", "2"], id="the rare term leads"),
    ],
)
def test_what_is_found(question, want):
    assert ids(search(Corpus({"3": "zebra a", "2": "a b", "1": "a b", "0": ""}), [question])) == [
        want
    ]


def test_depth_cuts_ties_by_id():
    corpus = Corpus(dict.fromkeys("hgfedcba", "same words"))
    assert ids(search(corpus, ["words"], depth=3)) == [["a", "b", "c"]]


def test_ids_stand_in_code_point_order():
    corpus = Corpus(dict.fromkeys(["é", "z", "Z", "😀", "\uffff", "가"], "w"))
    assert ids(search(corpus, ["w"])) == [["Z", "z", "é", "가", "\uffff", "😀"]]


def test_a_corpus_without_words_and_one_without_chunks():
    assert ids(search(Corpus({"x": "", "y": " "}), ["a"])) == [[]]
    assert ids(search(Corpus({}), ["a"])) == [[]]


def test_no_questions():
    found = search(Corpus({"x": "a"}), [])
    assert found.schema == FOUND
    assert found.num_rows == 0


def test_a_question_of_100_000_characters():
    corpus = Corpus({"x": "needle", "y": "hay"})
    assert ids(search(corpus, ["hay " * 25_000 + "needle"])) == [["y", "x"]]


@law
@given(TEXTS, st.lists(WORDS, max_size=4), st.sampled_from([0, 1.2]), st.sampled_from([0, 0.75, 1]))
def test_scores_are_the_formula_s(texts, questions, k1, b):
    found = search(Corpus(named(texts)), questions, k1=k1, b=b)
    for question, row in zip(questions, hits(found), strict=True):
        want = by_hand(named(texts), question, k1=k1, b=b)
        assert dict(row) == pytest.approx(want, rel=1e-13)
        assert row == sorted(row, key=lambda hit: (-hit[1], hit[0]))


@law
@given(TEXTS, st.lists(WORDS, max_size=4), st.integers(1, 4), st.data())
def test_any_shards_and_any_order_give_the_same_bytes(texts, questions, depth, data):
    corpus = Corpus(named(texts))
    whole = search(corpus, questions, depth=depth)
    shuffled = data.draw(st.permutations(list(corpus.texts)))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(texts)), max_size=3)))
    bounds = [0, *cuts, len(texts)]
    groups = [shuffled[a:b] for a, b in itertools.pairwise(bounds)]
    assert search(corpus, questions, *groups, depth=depth).equals(whole)


@law
@given(TEXTS, st.lists(WORDS, min_size=1, max_size=5), st.integers(1, 4))
def test_any_batch_and_any_block_give_the_same_bytes(texts, questions, depth):
    corpus = Corpus(named(texts))
    load = Bm25Search(Bm25(analyzer=corpus.analyzer, depth=depth), Filter()).load
    stage = load(corpus.shards()[0])
    batch = asked(questions)
    whole = stage(batch)
    one_by_one = [stage(batch.slice(n, 1)) for n in range(len(questions))]
    assert pa.concat_tables(one_by_one).combine_chunks().equals(whole)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index, "BLOCK_BYTES", 1)
        assert stage(batch).equals(whole)


@law
@given(TEXTS, st.lists(WORDS, min_size=1, max_size=4), st.integers(1, 4), st.data())
def test_a_filtered_search_is_a_search_among_the_visible(texts, questions, depth, data):
    names = list(named(texts))
    hidden = data.draw(st.sets(st.sampled_from(names)))
    stale = data.draw(st.frozensets(st.sampled_from(names)))
    corpus = Corpus(named(texts), access={i: ["hr"] for i in hidden}, stale=stale)
    principals = [data.draw(st.sampled_from([[], ["hr"], ["it", "hr"]])) for _ in questions]
    config = Filter(access=True, current=True)
    everything = hits(search(corpus, questions, depth=len(texts)))
    found = hits(search(corpus, questions, principals=principals, filtering=config, depth=depth))
    for row, who, every in zip(found, principals, everything, strict=True):
        gone = stale if "hr" in who else stale | hidden
        assert row == [hit for hit in every if hit[0] not in gone][:depth]


@run(max_examples=4, deadline=None)
@given(st.integers(0, 2**32))
def test_bm25s_agrees_on_a_larger_corpus(seed):
    rng = np.random.default_rng(seed)
    vocabulary = np.array([f"w{n}" for n in range(300)])
    draw = lambda n: vocabulary[np.minimum(rng.geometric(0.03, n), 300) - 1]  # noqa: E731
    texts = {f"{n:05}": " ".join(draw(rng.integers(1, 40))) for n in range(1500)}
    questions = [" ".join(draw(6)) for _ in range(20)]
    peer = bm25s.BM25(method="lucene", k1=0.9, b=0.4, dtype="float64")
    peer.index([t.split() for t in texts.values()], show_progress=False)
    tokens = [sorted(set(q.split())) for q in questions]
    _, scores = peer.retrieve(tokens, k=20, show_progress=False)
    ours = search(Corpus(texts), [" ".join(t) for t in tokens], k1=0.9, b=0.4, depth=20)
    assert_allclose([[s for _, s in row] for row in hits(ours)], scores, rtol=1e-9)


@pytest.mark.parametrize(
    ("n", "depth"),
    [(n, d) for n in (1, 7, 40, 333) for d in (1, 3, 10, 400)],
)
def test_leading_keeps_the_best_and_all_ties(n, depth):
    scores = np.random.default_rng(n).integers(0, 6, (20, n)) / 2
    kept = np.zeros(scores.shape, bool)
    kept[index.leading(scores, depth)] = True
    for row, mask in zip(scores, kept, strict=True):
        cut = np.sort(row)[::-1][min(depth, n) - 1]
        assert mask[(row >= cut) & (row > 0)].all()
        assert not mask[row == 0].any()


@pytest.mark.parametrize(
    ("analyzer", "want"),
    [
        pytest.param(Whitespace(), [], id="white space misses the noun before its particle"),
        pytest.param(UnicodeWords(), [], id="so do words"),
        pytest.param(CharNgram(), ["x"], id="2-grams find it"),
        pytest.param(Kiwi(), ["x"], id="kiwi finds it"),
    ],
)
def test_seoul_with_a_particle(analyzer, want):
    corpus = Corpus({"x": "서울은 대한민국의 수도이다", "y": "부산은 항구 도시이다"}, analyzer)
    assert ids(search(corpus, ["서울"])) == [want]


@pytest.mark.parametrize(
    "settings",
    [{"b": 1.1}, {"b": -0.1}, {"k1": -1}, {"k1": math.inf}, {"depth": 0}, {"dept": 5}],
)
def test_settings_out_of_range_are_refused(settings):
    with pytest.raises(ValueError):
        Bm25(**settings)
