"""What callers give to the public functions: rows and tables as a golden set, and what is refused."""

import json
from pathlib import Path

import polars as pl
import pyarrow as pa
import pytest
from live_search import QUESTIONS, search

import rayeval
from rayeval.errors import ConfigError, DataError, InputError
from rayeval.testing import assert_metrics


class Pandas:
    """As much of a pandas frame as tells it: absent values are NaN."""

    columns = ("question_id",)

    def to_dict(self, orient):
        assert orient == "records"
        return [{"language": float("nan"), **row} for row in QUESTIONS]


GOLDEN = [
    pytest.param(QUESTIONS, id="rows"),
    pytest.param(tuple(QUESTIONS), id="a tuple"),
    pytest.param(pl.DataFrame(QUESTIONS), id="Polars"),
    pytest.param(pa.Table.from_pylist(QUESTIONS), id="Arrow"),
    pytest.param(Pandas(), id="pandas"),
]


@pytest.mark.parametrize("golden", GOLDEN)
def test_rows_are_a_golden_set(tmp_path, golden):
    run = rayeval.evaluate(search, golden=golden, k=3, runs=tmp_path)
    assert dict(run.failures.select("question_id", "status").iter_rows()) == {
        "q-1": "success", "q-2": "failed", "q-3": "error",
    }  # fmt: skip
    again = rayeval.evaluate(search, golden=golden, k=3, runs=tmp_path)
    assert again.manifest["golden"] == run.manifest["golden"]


def test_rows_are_scored_too(tmp_path):
    trace = [{"question_id": "q-1", "stages": {"s": {"hits": ["25 days of paid leave"]}}}]
    run = rayeval.score(QUESTIONS[:1], trace, runs=tmp_path)
    assert run.failures["status"].to_list() == ["success"]


def test_what_is_wrong_with_a_row_is_said_by_its_number(tmp_path):
    with pytest.raises(DataError) as error:
        rayeval.evaluate(search, golden=[QUESTIONS[0], {"questoin": "?"}], runs=tmp_path)
    assert {(p.line, p.kind) for p in error.value.problems} >= {(2, "unknown_field")}


REFUSED = [
    pytest.param(
        {"golden": 5}, "golden is 5; expected a path, a list of rows", id="golden a number"
    ),
    pytest.param({"golden": [1]}, "golden is .1.; expected", id="golden rows that are none"),
    pytest.param({"golden": [{"question": object()}]}, "can't be written as JSON", id="no JSON"),
    pytest.param(
        {"k": [1, 3]}, r"k is \[1, 3\]; expected a whole number, 1 or more", id="a list of k"
    ),
    pytest.param({"k": 0}, "k is 0; expected", id="k of 0"),
    pytest.param({"k": True}, "k is True; expected", id="a flag as k"),
    pytest.param({"k": "3"}, "k is '3'; expected", id="text as k"),
    pytest.param(
        {"metrics": "recall@3"}, "metrics is 'recall@3'; expected a list", id="one metric"
    ),
    pytest.param(
        {"metrics": [3]}, "metrics is .3.; expected a list", id="a metric that is no name"
    ),
    pytest.param({"stage": 5}, "stage is 5; expected text", id="stage"),
    pytest.param({"name": ""}, "name is ''; expected text", id="name"),
    pytest.param({"runs": 5}, "runs is 5; expected a path", id="runs"),
    pytest.param({"corpus": ["d"]}, "corpus is .'d'.; expected a path", id="corpus"),
    pytest.param({"workers": 0}, "workers is 0; expected", id="workers"),
    pytest.param({"limit": "x"}, "limit is 'x'; expected", id="limit"),
    pytest.param({"sets": "a=b"}, "sets is 'a=b'; expected a list", id="sets"),
]


@pytest.mark.parametrize(("given", "words"), REFUSED)
def test_evaluate_refuses(tmp_path, given, words):
    with pytest.raises(ConfigError, match=words):
        rayeval.evaluate(search, **{"golden": QUESTIONS, "runs": tmp_path / "runs", **given})


OTHERS = [
    pytest.param(lambda: rayeval.evaluate(5), "config is 5; expected a path", id="config"),
    pytest.param(lambda: rayeval.evaluate(None), "config is None; expected", id="no config"),
    pytest.param(lambda: rayeval.score(QUESTIONS, 5), "trace is 5; expected", id="trace"),
    pytest.param(lambda: rayeval.score(QUESTIONS, {"a": 1}), "trace is {'a': 1}; expected", id="one row"),
    pytest.param(lambda: rayeval.score(None, []), "golden is None; expected", id="no golden"),
    pytest.param(lambda: rayeval.score(QUESTIONS, [], cutoffs=5), "cutoffs is 5; expected", id="cutoffs"),
    pytest.param(lambda: rayeval.score(QUESTIONS, [], metrics="a"), "metrics is 'a'", id="metrics"),
    pytest.param(lambda: rayeval.score(QUESTIONS, [], convention="x"), "convention is 'x'; expected one of", id="convention"),
    pytest.param(lambda: rayeval.score(QUESTIONS, [], sort="id"), "sort is 'id'; expected one of None, 'score'", id="sort"),
    pytest.param(lambda: rayeval.score(QUESTIONS, [], relevant="2"), "relevant is '2'", id="relevant"),
    pytest.param(lambda: rayeval.score(QUESTIONS, [], chunks=5), "chunks is 5; expected a path", id="chunks"),
    pytest.param(lambda: rayeval.load(5), "run is 5; expected a path", id="load"),
    pytest.param(lambda: rayeval.compare("a", 5), "base is 5; expected a path", id="compare"),
    pytest.param(lambda: rayeval.trace("q", path=5), "path is 5; expected", id="the recorder's file"),
    pytest.param(lambda: rayeval.trace("q").stage(5, []), "stage 5: expected a name", id="a stage's name"),
    pytest.param(lambda: rayeval.trace("q").stage("s", [], latency_ms="x"), "latency_ms is .x.", id="a time"),
    pytest.param(lambda: rayeval.trace("q").answer("a", citations="e1"), "expected a list of ids", id="citations"),
    pytest.param(lambda: rayeval.trace("q").answer("a", abstained=1), "True, False or None", id="abstained"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "words"), OTHERS)
def test_others_refuse(tmp_path, monkeypatch, call, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=words):
        call()


def test_floors_are_numbers(tmp_path):
    run = rayeval.evaluate(search, golden=QUESTIONS, k=3, runs=tmp_path)
    for floors in ({"recall@3": "0.9"}, ["recall@3"]):
        with pytest.raises(ConfigError, match=r"expected a finite number|no floor is given"):
            assert_metrics(run, floors)


def test_the_golden_set_of_rows_can_be_read_again(tmp_path):
    run = rayeval.evaluate(search, golden=QUESTIONS, k=3, runs=tmp_path)
    lines = Path(run.manifest["golden"]["path"]).read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == QUESTIONS
