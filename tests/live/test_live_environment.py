"""What the environment lacks is said before anything is computed."""

import json

import pytest
from live_services import arm, gold, project, run, serving

import rayeval
from rayeval.errors import ConfigError

URL = "http://127.0.0.1:9"
HTTP = {"kind": "http", "url": f"{URL}/", "body": {"q": "{question}"}}
CHAT = {"kind": "openai", "url": f"{URL}/v1", "model": "m"}


def key(name):
    return {"headers": {"Authorization": f"Bearer ${{{name}}}"}}


@pytest.fixture
def config(tmp_path):
    """A configuration of a tiny project, by parts."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("some text")
    row = {"question_id": "q", "question": "?", "evidence": [{"quote": "some text"}]}
    (tmp_path / "golden.jsonl").write_text(json.dumps(row))
    bm25 = {"bm25": {"kind": "bm25", "analyzer": {"kind": "unicode_words"}}}
    return lambda arms=bm25, **parts: {
        "golden": {"path": str(tmp_path / "golden.jsonl")},
        "corpus": {"path": str(tmp_path / "docs")},
        "chunk": {"kind": "fixed", "size": 40},
        "retrieve": {"arms": arms},
        **({"fuse": {"kind": "rrf"}} if len(arms) > 1 else {}),
        **parts,
    }


def computed(runs):
    """What is in the store, and which runs there are."""
    return [path for path in runs.rglob("*") if path.suffix == ".parquet"]


@pytest.mark.parametrize(
    ("parts", "says"),
    [
        pytest.param({"arms": {"svc": HTTP | key("LACKING")}}, "retrieve.arms.svc: http://127.0.0.1:9/: the environment lacks LACKING", id="an arm"),
        pytest.param({"rerank": {**HTTP, "body": {"q": "{question}", "t": "{texts}"}, **key("LACKING")}}, "rerank: ", id="a reranker"),
        pytest.param({"context": {"kind": "top_k", "depth": 1}, "answer": CHAT | key("LACKING")}, "answer: ", id="answers"),
        pytest.param({"arms": {"dense": {"kind": "dense", "embedder": {"kind": "openai", "model": "m", "base_url": f"{URL}/v1", "dimensions": 4, "api_key_env": "LACKING"}}}}, "retrieve.arms.dense.embedder: the environment variable LACKING", id="embeddings"),
    ],
)  # fmt: skip
def test_a_variable_that_is_not_set_stops_a_run_before_its_first_step(
    config, tmp_path, parts, says
):
    with pytest.raises(ConfigError, match="LACKING") as caught:
        rayeval.evaluate(config(**parts), runs=tmp_path / "runs")
    assert says in str(caught.value)
    assert computed(tmp_path / "runs") == []


def test_all_that_are_lacking_are_said_at_once(config, tmp_path):
    arms = {"a": HTTP | key("ONE"), "b": HTTP | key("TWO")}
    with pytest.raises(ConfigError, match=r"(?s)ONE.*TWO"):
        rayeval.evaluate(config(arms=arms), runs=tmp_path / "runs")


def test_what_the_store_has_needs_no_key(tmp_path, monkeypatch):
    monkeypatch.setenv("HAD", "s3cret")
    with serving(gold) as server:
        path = project(tmp_path, {"svc": arm(server, **key("HAD"))})
        run(path)
        monkeypatch.delenv("HAD")
        asked = len(server.seen)
        assert run(path).failures["status"].to_list() == ["success"] * 3
        with pytest.raises(ConfigError, match="HAD"):  # which is measured by asking again
            rayeval.evaluate(path, sets=["latency={sample: 1}"], runs=tmp_path / "runs")
        assert len(server.seen) == asked
