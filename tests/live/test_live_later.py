"""Rerankers and context selectors of the user's own, by themselves and in a run."""

import math
import sys

import pyarrow as pa
import pytest
from live_services import answered, hits, project, run, serving

from rayeval.context import live as selecting
from rayeval.context.live import HttpSelector
from rayeval.errors import ConfigError
from rayeval.live.log import Nothing
from rayeval.rerank import live as reranking
from rayeval.rerank.live import HttpReranker
from rayeval.tables import HITS, PASSAGES, TEXT

NAMES = ("a", "b", "c")


def batch(*lists):
    """A question per list of candidates, with a passage of one token each."""
    n = len(lists)
    found = [[{"chunk_id": c, "score": -float(i)} for i, c in enumerate(names)] for names in lists]
    texts = [[{"chunk_id": c, "text": f"text {c}"} for c in sorted(names)] for names in lists]
    places = [
        [{"chunk_id": c, "source_id": "d", "spans": [{"start_char": 0, "end_char": 5}], "tokens": 1}
         for c in sorted(names)] for names in lists
    ]  # fmt: skip
    return pa.table(
        {
            "question_id": pa.array([f"q{i}" for i in range(n)], TEXT),
            "question": pa.array([f"question {i}" for i in range(n)], TEXT),
            "fused": pa.array(found, HITS),
            "candidates": pa.array(texts, reranking_type()),
            "passages": pa.array(places, PASSAGES),
        }
    )


def reranking_type():
    return pa.list_(pa.struct([("chunk_id", TEXT), ("text", TEXT)]))


def reranked(answer, depth=2, candidates=3, names=NAMES):
    """[(chunk_id, score)] of one question whose reranker gives `answer`, or the error."""
    config = reranking.PythonReranker(factory="m:f", depth=depth, candidates=candidates)
    ask = lambda asked, lists: [answer]  # noqa: E731
    [row] = reranking._Rerank(ask, "fused", config)(batch(names)).to_pylist()
    return row["error"] or [(hit["chunk_id"], hit["score"]) for hit in row["hits"]]


@pytest.mark.parametrize(
    ("answer", "want"),
    [
        pytest.param([0.1, 0.3, 0.2], [("b", 0.3), ("c", 0.2)], id="a score of each"),
        pytest.param([1, 1, 1], [("a", 1.0), ("b", 1.0)], id="equal scores by id"),
        pytest.param(["c", "a", "b"], [("c", -1.0), ("a", -2.0)], id="an order"),
        pytest.param(["c", "a"], [("c", -1.0), ("a", -2.0)], id="an order of what is kept"),
        pytest.param(
            [{"index": 2, "score": 0.9}, {"index": 0, "score": 0.5}], [("c", 0.9), ("a", 0.5)],
            id="indices with scores",
        ),
        pytest.param(
            [{"chunk_id": "a", "score": 1}, {"chunk_id": "b", "score": 2}], [("b", 2.0), ("a", 1.0)],
            id="scores decide, not the order",
        ),
    ],
)  # fmt: skip
def test_an_order_of_candidates(answer, want):
    assert reranked(answer) == want


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        pytest.param([1.0, 2.0], "question q0: 2 scores for 3 candidates", id="too few scores"),
        pytest.param([1.0, math.nan, 2.0], "score nan is no finite number", id="NaN"),
        pytest.param([1.0, "x", 2.0], "score 'x' is no finite number", id="words among scores"),
        pytest.param(["a"], "question q0: 1 of 3 candidates came back, expected 2", id="too few"),
        pytest.param(["a", "z"], "'z' is none of the candidates", id="a stranger"),
        pytest.param(["a", "a"], "candidate a is named more than once", id="twice"),
        pytest.param([{"index": 3}], "index 3 is none of the 3", id="beyond the last"),
        pytest.param([{"index": True}], "index True is none of the 3", id="true for an index"),
        pytest.param(
            [{"index": 0, "score": 1}, {"index": 1}], "and others none", id="scores in part"
        ),
        pytest.param("abc", "expected a list of candidates, got str", id="one text"),
        pytest.param(None, "expected a list of candidates, got NoneType", id="nothing"),
        pytest.param([[1]], "names no candidate", id="lists in lists"),
    ],
)
def test_no_order_of_candidates(answer, message):
    assert message in reranked(answer)


def test_all_candidates_kept_is_a_permutation():
    """DESIGN §9, law 5."""
    assert sorted(name for name, _ in reranked([3, 1, 2], depth=3)) == list(NAMES)
    assert "2 of 3 candidates came back, expected 3" in reranked(["a", "b"], depth=3)


def test_without_candidates_nobody_is_asked():
    assert reranked([1.0], names=()) == []


def test_a_reranking_service_as_they_are():
    """Indices into a list of texts, best first, under a name of its own."""
    body = {"query": "{question}", "documents": "{texts}", "top_n": "{depth}"}
    answer = {
        "results": [{"index": 2, "relevance_score": 0.9}, {"index": 1, "relevance_score": 0.1}]
    }
    with serving(lambda request: (200, answer, {})) as server:
        config = HttpReranker(url=server.url, body=body, hits="results", depth=2, candidates=3,
                              fields={"index": "index", "score": "relevance_score"})  # fmt: skip
        table = reranking.build(config, "fused", Nothing())(batch(NAMES, ()))
    assert server.seen[0]["body"] == {
        "query": "question 0", "documents": ["text a", "text b", "text c"], "top_n": 2,
    }  # fmt: skip
    assert len(server.seen) == 1
    assert table["hits"].to_pylist() == [
        [{"chunk_id": "c", "score": 0.9}, {"chunk_id": "b", "score": 0.1}], []
    ]  # fmt: skip
    assert table["reranked_pairs"].to_pylist() == [3, 0]


@pytest.mark.parametrize(
    ("items", "want"),
    [
        pytest.param(["c", "a"], ["c", "a"], id="in its own order"),
        pytest.param([{"index": 1}], ["b"], id="by index"),
        pytest.param([], [], id="nothing at all"),
        pytest.param(["z"], "'z' is none of the candidates", id="a stranger"),
        pytest.param(["a", "a"], "named more than once", id="twice"),
    ],
)
def test_a_selecting_service(items, want):
    with serving(answered(*items)) as server:
        body = {"q": "{question}", "passages": "{candidates}"}
        config = HttpSelector(url=server.url, body=body, hits="r.items", candidates=3)
        [row] = selecting.build(config, "fused", Nothing())(batch(NAMES)).to_pylist()
    assert server.seen[0]["body"]["passages"][0] == {"chunk_id": "a", "text": "text a"}
    if isinstance(want, str):
        assert want in row["error"]
        assert row["hits"] is None
    else:
        assert [hit["chunk_id"] for hit in row["hits"]] == want
        assert (row["context_tokens"], row["duplicates"]) == (len(want), max(0, len(want) - 1))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        pytest.param({"body": {"q": "{question}"}}, "holds {candidates} or {texts}", id="nothing to rerank"),
        pytest.param({"body": "{texts}", "depth": 9, "candidates": 3}, "depth is 9", id="too deep"),
    ],
)  # fmt: skip
def test_settings_that_can_not_be(tmp_path, settings, message):
    bm25 = {"bm25": {"kind": "bm25", "analyzer": {"kind": "whitespace"}}}
    rerank = {"kind": "http", "url": "http://127.0.0.1:9/", **settings}
    with pytest.raises(ConfigError) as caught:
        run(project(tmp_path, bm25, rerank=rerank))
    assert message in str(caught.value)


CODE = """
import numpy as np

def by_length(prefix):
    def rerank(batch):
        assert batch.column_names == ["question_id", "question", "candidates"]
        lists = batch["candidates"].to_pylist()
        return [np.array([-len(c["text"]) for c in candidates]) for candidates in lists]
    return rerank

class Shortest:
    def __call__(self, batch):
        lists = batch["candidates"].to_pylist()
        return [[min(cs, key=lambda c: len(c["text"]))["chunk_id"]] for cs in lists]
"""


def test_a_pipeline_of_the_users_own_parts(tmp_path):
    """A service's passages are reranked and selected like chunks of ours."""
    (tmp_path / "own_later.py").write_text(CODE)
    items = [
        {"text": "Call 1234 for help."},
        {"text": "VPN tokens expire after 90 days.", "score": None},
    ]
    with serving(answered(*items)) as server:
        svc = {"kind": "http", "url": server.url, "body": {"q": "{question}"}, "hits": "r.items"}
        bm25 = {"kind": "bm25", "analyzer": {"kind": "whitespace"}}
        path = project(
            tmp_path, {"svc": svc, "bm25": bm25}, fuse={"kind": "rrf"},
            rerank={"kind": "python", "factory": "own_later:by_length", "settings": {"prefix": ""}},
            context={"kind": "python", "factory": "own_later:Shortest"}, latency={"sample": 1},
        )  # fmt: skip
        found = run(path)
    sys.modules.pop("own_later")
    sys.path.remove(str(tmp_path))
    texts = [hit["text"] for hit in hits(found, "q-vpn", "reranked")]
    assert texts == sorted(texts, key=len)
    assert len(texts) >= 2
    assert [hit["text"] for hit in hits(found, "q-vpn", "context")] == ["Call 1234 for help."]
    [failed] = found.failures.filter(question_id="q-vpn").to_dicts()
    assert failed["code"] == "CONTEXT_BUDGET_DROPPED_GOLD"
    assert "own_later:by_length" in found.manifest["models"]["rerank"]
    assert "own_later:Shortest" in found.manifest["models"]["context"]
    assert {"reranked", "context"} <= set(found.latency.filter(mode="serial")["stage"])
