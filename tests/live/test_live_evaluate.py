"""The three-line form."""

import asyncio
import functools
import threading
from pathlib import Path

import pytest
from live_search import QUESTIONS, search

import rayeval
from rayeval.errors import ConfigError, DataError
from rayeval.execution.asking import asked
from rayeval.golden.load import load_questions
from rayeval.report.question import question_text
from rayeval.report.terminal import run_text


def test_three_lines(run):
    assert "recall@3" in str(run)
    rows = {row["question_id"]: row for row in run.failures.to_dicts()}
    assert [rows[f"q-{n}"]["status"] for n in (1, 2, 3)] == ["success", "failed", "error"]
    assert rows["q-2"]["code"] == "RETRIEVAL_MISSED_GOLD"
    assert [rows[f"q-{n}"]["message"] for n in (1, 2)] == [None, None]
    assert rows["q-3"]["message"] == "TimeoutError: the index is [cold]"
    [error] = run.trace.filter(question_id="q-3")["error"]
    assert error == "TimeoutError: the index is [cold]"
    numbers = run.per_query.filter(stage="search").sort("question_id")
    assert numbers["mrr@3"].to_list()[:2] == [0.5, 0.0]
    assert numbers["status"].to_list() == ["ok", "ok", "error"]
    assert set(run.latency["mode"]) == {"foreign"}
    assert run.damage() == []


class SpeechlessError(Exception):
    def __str__(self):
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        pytest.param(
            OSError("no document \udcff.txt"), r"OSError: no document \udcff.txt", id="halves"
        ),
        pytest.param(
            SpeechlessError(), "SpeechlessError, of which no text can be had", id="no words"
        ),
        pytest.param(SystemExit("bye"), "SystemExit: bye", id="an exit"),
    ],
)
def test_whatever_an_exception_says_it_is_one_questions_error(golden, error, said):
    def find(question):
        if "tokens" in question:
            raise error
        return ["Employees have 25 days of paid leave."]

    run = rayeval.evaluate(find, golden=golden, k=3, runs=golden.parent / "runs")
    failed = run.trace.drop_nulls("error").select("question_id", "error").rows()
    assert failed == [("q-2", said)]
    assert run.failures.filter(question_id="q-1")["status"].to_list() == ["success"]


@pytest.mark.parametrize("kind", [set, frozenset])
def test_what_has_no_order_is_the_rows_error(golden, kind):
    run = rayeval.evaluate(
        lambda q: kind(["one", "two"]), golden=golden, k=3, runs=golden.parent / "runs"
    )
    [error] = set(run.trace["error"])
    assert (
        error == f"the hits are a {kind.__name__}, which has no order; expected a list, best first"
    )


def test_keys_of_a_dictionary_stand_as_they_were_put_in(golden):
    found = {"Employees have 25 days of paid leave.": 1, "two": 2}
    run = rayeval.evaluate(lambda q: found.keys(), golden=golden, k=3, runs=golden.parent / "runs")
    assert run.trace["error"].null_count() == len(run.trace)
    assert run.per_query.filter(question_id="q-1")["mrr@3"].to_list() == [1.0]


def test_what_lies_below_k_does_not_count(golden):
    """Neither for metrics nor for first failures, which else would tell two stories."""

    def late(question):
        return ["one", "two", "three", "Employees have 25 days of paid leave."]

    def ended(**more):
        run = rayeval.evaluate(late, golden=golden, runs=golden.parent / "runs", **more)
        return run.failures.filter(question_id="q-1")["status"].item()

    assert ended(k=3) == "failed"
    assert ended(k=4) == "success"
    assert ended(k=3, metrics=["recall@4"]) == "success"


def test_another_search_is_another_trace_not_another_path(run, golden):
    other = rayeval.evaluate(lambda q: ["nothing"], golden=golden, k=3, runs=golden.parent / "runs")
    assert rayeval.compare(other, run).facts["changed"] == ["the trace: its hits are others"]
    assert rayeval.compare(run, run).facts["changed"] == []


def test_a_quote_that_nobody_placed_has_no_offsets(run):
    shown = question_text(run, "q-2")
    assert "e1 (e1, gold) any source\n" in shown


def rows_of(found, golden, **options):
    options = {"stage": "search", "k": 3, "workers": 1, **options}
    tables = list(asked(found, load_questions(str(golden))[0], **options))
    return [row for table in tables for row in table.to_pylist()]


def test_a_coroutine_function_on_one_loop(golden):
    loops, most, now = set(), [0], [0]

    async def found(question, *, principals, k):
        loops.add(id(asyncio.get_running_loop()))
        now[0] += 1
        most[0] = max(most[0], now[0])
        await asyncio.sleep(0.05)
        now[0] -= 1
        return [f"{question} {principals} {k}"]

    rows = rows_of(found, golden, workers=3)
    assert len(loops) == 1
    assert most[0] == 3
    assert rows[0]["hits"][0]["text"] == "how many days ['hr'] 3"
    assert all(row["latency_ms"] >= 50 for row in rows)


def test_threads_ask_at_once_and_rows_keep_their_order(golden):
    together = threading.Barrier(3, timeout=20)

    def found(question):
        together.wait()
        return [{"chunk_id": question}]

    rows = rows_of(found, golden, workers=3)
    assert [row["question_id"] for row in rows] == ["q-1", "q-2", "q-3"]
    assert [row["hits"][0]["chunk_id"] for row in rows] == [q["question"] for q in QUESTIONS]


class Searcher:
    def __call__(self, question, k):
        return [f"{k}"]

    def method(self, question, limit=1):
        return [f"{limit}"]


@pytest.mark.parametrize(
    ("found", "want"),
    [
        pytest.param(lambda q: ["a"], ["a"], id="a function"),
        pytest.param(Searcher(), ["3"], id="an object that takes k"),
        pytest.param(Searcher().method, ["1"], id="a method with a default"),
        pytest.param(functools.partial(Searcher().method, limit=7), ["7"], id="bound"),
        pytest.param(lambda q: (text for text in "ab"), ["a", "b"], id="a generator"),
    ],
)
def test_what_can_be_asked(golden, found, want):
    assert [hit["text"] for hit in rows_of(found, golden)[0]["hits"]] == want


@pytest.mark.parametrize(
    ("given", "message"),
    [
        pytest.param(None, "got None", id="forgotten return"),
        pytest.param("text", "expected a list of hits", id="one text"),
        pytest.param([{"txt": "a"}], "hit 1 has the field 'txt'", id="a typo"),
        pytest.param([{"chunk_id": "a"}, {"chunk_id": "a"}], "same chunk_id 'a'", id="an id twice"),
    ],
)
def test_an_answer_that_is_none_is_the_rows_error(golden, given, message):
    [row, *_] = rows_of(lambda q: given, golden)
    assert row["hits"] is None
    assert message in row["error"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        pytest.param(lambda g: rayeval.evaluate(search), "needs questions", id="no golden set"),
        pytest.param(lambda g: rayeval.evaluate(search, golden=g, k=0), "1 or more", id="k 0"),
        pytest.param(
            lambda g: rayeval.evaluate(search, golden=g, limit=1), "are for configurations", id="limit"
        ),
        pytest.param(
            lambda g: rayeval.evaluate("rayeval.yaml", golden=g), "has its own", id="a config and a golden set"
        ),
        pytest.param(
            lambda g: rayeval.evaluate(lambda q, index: [], golden=g),
            "can't be called as search.question.", id="an argument that nobody gives",
        ),
        pytest.param(
            lambda g: rayeval.evaluate(search, golden=g, metrics=["recal@3"]), "unknown metric", id="a metric"
        ),
    ],
)  # fmt: skip
def test_what_is_refused_before_anything_is_asked(golden, tmp_path, monkeypatch, call, message):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=message):
        call(golden)


def test_a_golden_set_with_problems(tmp_path):
    path = tmp_path / "golden.jsonl"
    path.write_text('{"question_id": "q", "question": "x", "evidence": 7}\n')
    with pytest.raises(DataError, match=r"golden\.jsonl:1"):
        rayeval.evaluate(search, golden=path, runs=tmp_path / "runs")


def test_a_search_that_always_fails_says_why_everywhere(golden):
    def search(question):
        raise KeyError("x" if "days" in question else "y")

    run = rayeval.evaluate(search, golden=golden, k=3, runs=golden.parent / "runs")
    told = "“KeyError: 'y'” (2 questions), and 1 other error"
    for text in (str(run), run_text(run), (Path(run.path) / "summary.md").read_text()):
        assert told in " ".join(text.split())
    page = (Path(run.path) / "report.html").read_text()
    assert "KeyError: 'y'” (2 questions)" in page.replace("\\u201d", "”").replace("\\u0027", "'")
    assert run.failures.sort("question_id")["message"].to_list() == [
        "KeyError: 'x'", "KeyError: 'y'", "KeyError: 'y'"]  # fmt: skip


def test_a_run_without_errors_has_no_messages(golden):
    run = rayeval.evaluate(lambda q: [], golden=golden, k=3, runs=golden.parent / "runs")
    assert run.failures["message"].to_list() == [None] * 3
    assert "error (" not in str(run)
