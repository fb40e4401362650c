"""The recorder: whole lines, whoever writes at the same time, whatever ends in between."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading

import pytest

import rayeval
from rayeval.errors import ConfigError, InputError
from rayeval.interop import own


class SpeechlessError(Exception):
    def __str__(self):
        raise RuntimeError("no words")


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("RAYEVAL_TRACE", str(tmp_path / "deep" / "t.jsonl"))
    return tmp_path / "deep" / "t.jsonl"


def test_a_question_is_a_line_of_the_trace(path):
    with rayeval.trace("q-1") as t:
        t.stage("bm25", ["서울은 수도다", {"chunk_id": "c", "score": 1.5}][1:])
        t.stage("reranked", [{"source_id": "d", "start_char": 0, "end_char": 4}], latency_ms=7)
        t.context(["서울은 수도다"])
        t.answer("서울", citations=["c"])
    [row] = lines(path)
    assert row == {
        "question_id": "q-1",
        "stages": {
            "bm25": {"hits": [{"chunk_id": "c", "score": 1.5}]},
            "reranked": {
                "hits": [{"source_id": "d", "spans": [{"start_char": 0, "end_char": 4}]}],
                "latency_ms": 7.0,
            },
        },
        "context": [{"text": "서울은 수도다"}],
        "answer": "서울",
        "citations": ["c"],
    }


@pytest.mark.parametrize(
    ("said", "want"),
    [
        pytest.param({}, {"answer": "a"}, id="nothing else"),
        pytest.param({"abstained": False}, {"answer": "a", "abstained": False}, id="no refusal"),
        pytest.param({"citations": []}, {"answer": "a", "citations": []}, id="no citation"),
        pytest.param({"text": None}, {"answer": ""}, id="nothing at all"),
        pytest.param(
            {"text": None, "abstained": True}, {"answer": None, "abstained": True}, id="a refusal"
        ),
    ],
)
def test_an_answer_claims_what_was_said_of_it_and_no_more(path, said, want):
    with rayeval.trace("q") as t:
        t.answer(**{"text": "a", **said})
    [row] = lines(path)
    assert {name: row[name] for name in row if name not in ("question_id", "stages")} == want


def test_an_exception_is_recorded_and_goes_on(path):
    with pytest.raises(ZeroDivisionError), rayeval.trace("q") as t:
        t.stage("bm25", [])
        1 / 0  # noqa: B018
    [row] = lines(path)
    assert row["error"] == "ZeroDivisionError: division by zero"
    assert row["stages"]["bm25"]["hits"] == []


@pytest.mark.parametrize(
    ("record", "message"),
    [
        pytest.param(lambda t: t.stage("s", [{"chunk_id": 7.5}]), "question 'q', stage 's': hit 1", id="no hit"),
        pytest.param(lambda t: [t.stage("s", []), t.stage("s", [])], "recorded already", id="a stage twice"),
        pytest.param(lambda t: t.stage("", []), "expected a name", id="a stage without a name"),
        pytest.param(lambda t: t.stage("a\0b", []), "expected a name", id="NUL in a name"),
        pytest.param(lambda t: t.stage("s", [], latency_ms=-1), "latency_ms is -1", id="less than no time"),
        pytest.param(lambda t: t.stage("s", [], latency_ms=float("nan")), "latency_ms is nan", id="a time that is NaN"),
        pytest.param(lambda t: t.answer(7), "expected text, got int", id="an answer that is a number"),
        pytest.param(lambda t: t.context("text"), "expected a list of hits", id="a context that is one text"),
        pytest.param(lambda t: t.stage("s", {"a", "b"}), "which has no order", id="a set of hits"),
        pytest.param(lambda t: t.stage("s", ["a\udcff"]), "half of a surrogate pair", id="half a character found"),
        pytest.param(lambda t: t.stage("s\udcff", []), "expected a name", id="half a character in a name"),
        pytest.param(lambda t: t.stage("s", [], latency_ms=10**400), "latency_ms is", id="a time beyond all floats"),
        pytest.param(lambda t: t.answer("a\udcff"), "half of a surrogate pair", id="half a character said"),
        pytest.param(lambda t: t.answer("a", abstained=1), "abstained is 1", id="a number as abstained"),
        pytest.param(lambda t: t.answer("a", citations=[None]), r"citations are \[None\]", id="a citation of None"),
        pytest.param(lambda t: t.answer("a", citations=[""]), "expected a list of ids", id="a citation of nothing"),
        pytest.param(lambda t: t.answer("a", citations=["c\udcff"]), "expected a list of ids", id="half a character cited"),
        pytest.param(lambda t: t.answer("a", citations={"a", "b"}), "expected a list of ids", id="a set of citations"),
        pytest.param(lambda t: t.answer("a", citations=b"ab"), "expected a list of ids", id="bytes as citations"),
        pytest.param(lambda t: t.answer("a", citations=7), "expected a list of ids", id="a number as citations"),
    ],
)  # fmt: skip
def test_what_is_refused(path, record, message):
    with pytest.raises(InputError, match=message), rayeval.trace("q") as t:
        record(t)
    [row] = lines(path)
    assert row["error"].startswith("InputError: ")
    assert readable(path) == []


def readable(path):
    """What keeps the file from being scored."""
    found = own.read([str(path)])
    for part in (found.trace, found.answers):
        list(part)
    return found.problems


@pytest.mark.parametrize(
    "error",
    [OSError("no document \udcff.txt"), ValueError("\0\ud800"), SpeechlessError()],
    ids=["a name of bytes", "NUL", "no words"],
)
def test_whatever_an_exception_says_the_file_can_be_read(path, error):
    with pytest.raises(type(error)), rayeval.trace("q"):
        raise error
    assert readable(path) == []
    [row] = lines(path)
    assert row["error"].startswith(type(error).__name__)


def test_ids_that_are_numbers_are_cited_as_their_text(path):
    with rayeval.trace("q") as t:
        t.answer("a", citations=(7, "b"))
    assert lines(path)[0]["citations"] == ["7", "b"]


@pytest.mark.parametrize("name", ["", None, 7, "q\udcff"])
def test_a_question_needs_an_id(name):
    with pytest.raises(ConfigError, match=r"expected text that is not empty|half of a surrogate"):
        rayeval.trace(name)


def test_the_files_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("RAYEVAL_TRACE", raising=False)
    with rayeval.trace("a"):
        pass
    with rayeval.trace("b", path=tmp_path / "other.jsonl"):
        pass
    assert [row["question_id"] for row in lines(tmp_path / "trace.jsonl")] == ["a"]
    assert [row["question_id"] for row in lines(tmp_path / "other.jsonl")] == ["b"]


def test_threads_and_tasks_do_not_mix(path):
    long = "가" * 20_000  # far longer than what the system writes in one go through a pipe

    def in_thread(name):
        for n in range(20):
            with rayeval.trace(f"{name}-{n}") as t:
                t.stage("s", [f"{name}-{n}", long])

    async def in_task(name):
        with rayeval.trace(name) as outer:
            await asyncio.sleep(0)
            with rayeval.trace(f"{name}/inner") as inner:
                await asyncio.sleep(0)
                inner.stage("s", [f"{name}/inner", long])
            outer.stage("s", [name, long])

    async def all_tasks():
        await asyncio.gather(*(in_task(f"task-{n}") for n in range(20)))

    threads = [threading.Thread(target=in_thread, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    asyncio.run(all_tasks())
    for thread in threads:
        thread.join()
    rows = lines(path)
    assert len({row["question_id"] for row in rows}) == len(rows) == 4 * 20 + 2 * 20
    assert all(row["stages"]["s"]["hits"][0]["text"] == row["question_id"] for row in rows)


WRITER = """
import sys, rayeval
name = sys.argv[1]
for n in range(int(sys.argv[2])):
    with rayeval.trace(f"{name}-{n}") as t:
        t.stage("s", ["x" * 30_000])
    print(n, flush=True)
"""


def start(name, count):
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, name, str(count)], stdout=subprocess.PIPE, env=os.environ
    )


def test_several_processes_and_one_that_is_killed(path):
    whole = [start(name, 40) for name in "ab"]
    killed = start("k", 10**6)
    for _ in range(20):
        last = int(killed.stdout.readline())
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    killed.stdout.close()
    for process in whole:
        process.communicate()
    *rows, _ = path.read_bytes().split(b"\n")
    good = [json.loads(row)["question_id"] for row in rows if row.endswith(b"}")]
    assert {f"{name}-{n}" for name in "ab" for n in range(40)} <= set(good)
    assert {f"k-{n}" for n in range(last + 1)} <= set(good)
    assert len(rows) - len(good) <= 1  # what the killed one was writing


def test_a_torn_line_is_closed_before_the_next(path):
    path.parent.mkdir()
    path.write_text('{"question_id": "torn", "sta')
    with rayeval.trace("q"):
        pass
    torn, whole = path.read_text().splitlines()
    assert json.loads(whole)["question_id"] == "q"
    assert torn.startswith('{"question_id": "torn"')


def test_importing_rayeval_loads_no_heavy_library():
    code = (
        "import sys, rayeval, rayeval.recorder, rayeval.adapters.langchain, rayeval.adapters.llamaindex\n"
        "print([n for n in ('ray', 'polars', 'pyarrow', 'numpy', 'httpx') if n in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
