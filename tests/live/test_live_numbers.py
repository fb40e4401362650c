"""Numbers of any library, wherever a user's code gives them."""

import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from live_search import QUESTIONS

import rayeval
from rayeval.errors import DataError, InputError
from rayeval.hits import hits_of
from rayeval.live.chosen import named
from rayeval.rerank.live import ranking
from rayeval.scalars import plain, real, whole


class Index:
    """As integers of other libraries are."""

    def __index__(self):
        return 7


@pytest.mark.parametrize(
    ("value", "want"),
    [
        pytest.param(7, 7, id="Python's"),
        pytest.param(np.int64(7), 7, id="of 64 bits, as faiss gives ids"),
        pytest.param(np.uint8(7), 7, id="of 8 bits"),
        pytest.param(np.array(7), 7, id="an array without a dimension"),
        pytest.param(Index(), 7, id="any that can be an index"),
        pytest.param(True, None, id="true"),
        pytest.param(np.True_, None, id="NumPy's true"),
        pytest.param(7.0, None, id="a float"),
        pytest.param(np.array([7]), None, id="an array"),
        pytest.param("7", None, id="text"),
        pytest.param(None, None, id="nothing"),
    ],
)
def test_what_is_a_whole_number(value, want):
    assert whole(value) == want
    assert type(whole(value)) is type(want)


@pytest.mark.parametrize(
    ("value", "want"),
    [
        pytest.param(np.float32(0.5), 0.5, id="of 32 bits"),
        pytest.param(np.float64(0.5), 0.5, id="of 64 bits"),
        pytest.param(np.int32(2), 2.0, id="a whole one"),
        pytest.param(Decimal("0.5"), 0.5, id="decimal"),
        pytest.param(Fraction(1, 2), 0.5, id="a fraction"),
        pytest.param(float("inf"), math.inf, id="infinity"),
        pytest.param(True, None, id="true"),
        pytest.param(np.True_, None, id="NumPy's true"),
        pytest.param("0.5", None, id="text"),
        pytest.param(10**400, None, id="beyond all floats"),
        pytest.param(1j, None, id="complex"),
        pytest.param(np.array([0.5, 1]), None, id="an array"),
    ],
)
def test_what_is_a_number(value, want):
    assert real(value) == want
    assert type(real(value)) is type(want)


def test_what_is_no_scalar_stays_as_it_is():
    for value in ("a", [1], {"a": 1}, None, object()):
        assert plain(value) is value


HIT = {
    "chunk_id": np.int64(3), "source_id": np.uint16(4), "start_char": np.int64(1),
    "end_char": np.int32(9), "score": np.float32(0.5),
}  # fmt: skip
PLAIN = {
    "chunk_id": "3", "source_id": "4", "spans": [{"start_char": 1, "end_char": 9}], "score": 0.5,
}  # fmt: skip


def test_hits_with_numbers_of_numpy():
    assert hits_of([HIT]) == [PLAIN]
    spans = [(np.int64(1), np.int64(9))]
    assert hits_of([{"source_id": "s", "spans": spans}])[0]["spans"] == PLAIN["spans"]


def test_the_recorder_writes_them_as_its_own(tmp_path):
    path = tmp_path / "t.jsonl"
    with rayeval.trace("q", path=path) as t:
        t.stage("bm25", [HIT], latency_ms=np.float32(2.5))
        t.answer("a", abstained=np.False_, citations=[np.int64(3), "b"])
    assert json.loads(path.read_text()) == {
        "question_id": "q", "stages": {"bm25": {"hits": [PLAIN], "latency_ms": 2.5}},
        "answer": "a", "abstained": False, "citations": ["3", "b"],
    }  # fmt: skip


def test_a_search_function_gives_them(tmp_path):
    def search(question):
        return [{**HIT, "text": "Employees have 25 days of paid leave."}]

    run = rayeval.evaluate(search, golden=QUESTIONS, k=np.int64(3), runs=tmp_path)
    assert run.trace["error"].null_count() == len(run.trace)
    assert run.per_query.filter(question_id="q-1")["recall@3"].to_list() == [1.0]


def test_rows_of_a_trace_hold_them(tmp_path):
    text = {"text": "Employees have 25 days of paid leave."}
    rows = [
        {"question_id": "q-1", "stages": {"s": {"hits": [HIT | text], "latency_ms": np.float32(1)}}},
        {"question_id": "q-2", "hits": [{"source_id": "s", **text, "spans": [{"start_char": np.int64(0), "end_char": np.int64(2)}]}],
         "abstained": np.True_, "citations": [np.int64(3)], "repeat": np.int64(0)},
    ]  # fmt: skip
    run = rayeval.score(QUESTIONS, rows[:1], runs=tmp_path)
    assert run.per_query.filter(question_id="q-1")["hit@1"].to_list() == [1.0]
    rayeval.score(QUESTIONS, rows[1:], runs=tmp_path)


def test_what_is_wrong_with_such_rows_is_still_said(tmp_path):
    rows = [
        {
            "question_id": np.int64(4),
            "hits": [{"chunk_id": np.float64(0.5)}, {"score": np.int64(2)}],
        }
    ]
    with pytest.raises(DataError, match=r"trace:1 \[4\] wrong_type: `hits\[0\].chunk_id` is 0.5"):
        rayeval.score(QUESTIONS, rows, runs=tmp_path)


def test_arguments_are_numbers_of_any_library_too(tmp_path):
    rows = [{"question_id": "q-1", "hits": ["Employees have 25 days of paid leave."]}]
    run = rayeval.score(QUESTIONS, rows, cutoffs=[np.int64(1)], relevant=np.int8(2), runs=tmp_path)
    assert "recall@1" in run.per_query.columns
    with pytest.raises(InputError, match="k is True"):
        rayeval.evaluate(lambda q: [], golden=QUESTIONS, k=True, runs=tmp_path)


def test_rerankers_name_and_score_with_them():
    candidates = [{"chunk_id": "a", "text": "x"}, {"chunk_id": "b", "text": "y"}]
    assert ranking([np.float32(0.5), np.float32(0.75)], candidates) == [("b", 0.75), ("a", 0.5)]
    given = [{"index": np.int64(1), "score": np.float32(0.5)}]
    assert named(given, candidates) == [("b", 0.5)]
