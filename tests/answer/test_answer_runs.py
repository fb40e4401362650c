"""Whole runs against a chat model by script, and the answers of traces."""

import json
import signal
import subprocess
import sys
import threading
import time

import polars as pl
import pytest
from answer_runs import QUESTIONS, asked, evidence, first_piece, project, run, told
from faulty import Fault, serving

import rayeval
from rayeval.errors import ConfigError
from rayeval.execution.config import RunConfig
from rayeval.execution.load import load_config
from rayeval.execution.progress import Silent
from rayeval.execution.resume import resume_run
from rayeval.execution.validate import validate_config
from rayeval.report.terminal import run_text

pytestmark = pytest.mark.slow  # whole runs of answers

BOTH = ["closed_book", "gold_context"]


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """A run with brackets and repeats, and what the model was asked."""
    folder = tmp_path_factory.mktemp("answered")
    prices = {"input_per_million": 1, "output_per_million": 2}
    with serving(first_piece) as server:
        answer = {"repeats": 2, "bracket": BOTH, "prices": prices}
        return run(project(folder, server.url, answer=answer)), list(server.seen)


def rows(found, question_id, variant="answer"):
    return found.answers.filter(question_id=question_id, variant=variant).to_dicts()


def test_a_row_for_every_question_variant_and_repeat(answered):
    found, seen = answered
    keys = found.answers.select("question_id", "variant", "repeat").rows()
    names = sorted(q["question_id"] for q in QUESTIONS)
    assert keys == [(q, v, n) for q in names for v in ("answer", *BOTH) for n in range(2)]
    assert len(seen) == 24
    assert found.answers["error"].null_count() == 24
    assert "latency_ms" not in found.answers.columns


def test_answers_rest_on_the_context(answered):
    found, _ = answered
    [first, _] = rows(found, "q-leave")
    assert first["answer"].startswith("# Leave\n\nEvery employee")
    [context] = found.trace.filter(question_id="q-leave", stage="context")["hits"].to_list()
    ids = [hit["chunk_id"] for hit in context]
    assert first["context"] == ids
    assert first["citations"] == [{"mark": "E1", "chunk_id": ids[0]}]
    assert first["cost_usd"] == pytest.approx(140e-6)


def test_brackets_have_no_context_and_the_gold_one(answered):
    found, _ = answered
    assert [one["abstained"] for one in rows(found, "q-vpn", "closed_book")] == [True, True]
    [gold, _] = rows(found, "q-vpn", "gold_context")
    assert gold["context"] == ["e1", "e2"]
    assert gold["answer"] == "VPN tokens expire after 90 days. [E1]"
    [moon, _] = rows(found, "q-moon", "gold_context")
    assert (moon["context"], moon["abstained"]) == ([], True)


def test_time_and_counters_are_of_the_answer(answered):
    found, _ = answered
    row = found.latency.filter(question_id="q-vpn", stage="answer").to_dicts()[0]
    assert row["mode"] == "batched"
    assert row["latency_ms"] > 0
    assert (row["prompt_tokens"], row["completion_tokens"]) == (200, 40)
    assert row["cost_usd"] == pytest.approx(280e-6)


def test_the_manifest_pins_model_and_prompt(answered):
    found, _ = answered
    identity = found.manifest["steps"]["answers"]["identity"]
    assert (identity["model"], identity["temperature"], identity["seed"]) == ("scripted", 0.0, 42)
    assert identity["prompt"]["name"] == "answer"
    assert identity["prompt"]["hash"] in found.manifest["models"]["answer"]
    assert found.manifest["stages"] == ["bm25", "context"]


def test_a_question_is_shown_with_its_answers(answered):
    found, _ = answered
    command = [sys.executable, "-m", "rayeval", "show", found.path, "q-leave"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    said = text.partition("\nanswer:\n")[2]
    assert "  1–2. # Leave Every employee has 25 days of paid leave. Call 123 [E1]\n" in said
    assert (
        "      cites E1 (leave.md)\n      100 tokens read, 20 tokens written, $0.000140 each\n"
        in said
    )
    assert "\nclosed_book:\n  1–2. abstained\n" in said
    shown = subprocess.run([*command, "--json"], capture_output=True, check=True).stdout
    assert [a["variant"] for a in json.loads(shown)["answers"]] == [
        v for v in ("answer", *BOTH) for _ in range(2)
    ]


def test_nothing_is_asked_twice_and_the_tables_are_the_same(tmp_path):
    with serving(first_piece) as server:
        path = project(tmp_path, server.url, answer={"bracket": BOTH})
        first = run(path)
        asked_first = len(server.seen)
        second = run(path, "placement.batch=1", "placement.workers=2")
        third = run(path, store=str(tmp_path / "other"))
        assert len(server.seen) == 2 * asked_first
        fourth = run(path, "metrics.cutoffs=[2]", "answer.repeats=2", "answer.bracket=[]")
        assert len(server.seen) == 2 * asked_first + len(QUESTIONS)
    assert first.answers.equals(second.answers)
    assert first.answers.equals(third.answers)
    old = fourth.answers.filter(pl.col("repeat") == 0)
    assert old.equals(first.answers.filter(pl.col("variant") == "answer"))


def test_what_failed_is_an_error_and_asked_again_by_the_next_run(tmp_path):
    down = True

    def script(body):
        if "장비" in asked(body):
            return "no JSON"
        return Fault(status=500) if down and "paid leave" in asked(body) else first_piece(body)

    with serving(script) as server:
        path = project(tmp_path, server.url)
        first = run(path)
        down, before = False, len(server.seen)
        second = run(path)
        assert [asked(body) for body in server.seen[before:]] == ["how many days of paid leave"]
    [one] = rows(first, "q-leave")
    assert one["error"].startswith("failed: ")
    assert (one["answer"], one["abstained"], one["citations"]) == (None, None, None)
    [one] = rows(second, "q-leave")
    assert (one["error"], one["abstained"]) == (None, False)
    for found in (first, second):
        [one] = rows(found, "q-it")
        assert one["error"].startswith("unparseable: ")


def test_a_question_that_failed_before_is_not_asked(tmp_path):
    arms = {"svc": {"kind": "http", "url": "http://127.0.0.1:1/s", "retries": 0,
                    "body": {"q": "{question}"}}}  # fmt: skip
    with serving(first_piece) as server:
        path = project(tmp_path, server.url, retrieve={"arms": arms}, answer={"bracket": BOTH[:1]})
        found = run(path)
        assert len(server.seen) == len(QUESTIONS)
    answers = found.answers.filter(variant="answer")
    assert all(error.startswith("upstream context: ") or error.startswith("upstream svc: ")
               for error in answers["error"])  # fmt: skip
    assert found.answers.filter(variant="closed_book")["error"].null_count() == len(QUESTIONS)


def test_without_a_context_stage_the_first_hits_are_handed_over(tmp_path):
    with serving(first_piece) as server:
        found = run(project(tmp_path, server.url, context=None, answer={"depth": 1}))
        assert all(len(evidence(body)) == 1 for body in server.seen)
    assert all(len(ids) == 1 for ids in found.answers["context"].to_list())
    assert found.manifest["stages"] == ["bm25"]


def test_the_latency_pass_asks_one_at_a_time(tmp_path):
    with serving(first_piece) as server:
        path = project(tmp_path, server.url, answer={"repeats": 2}, latency={"sample": 2})
        found = run(path)
        assert len(server.seen) == 8 + 2 + 2  # warm-up and sample, once each
    alone = found.latency.filter(mode="serial")
    times = {(r["question_id"], r["stage"]): r["latency_ms"] for r in alone.to_dicts()}
    for name in alone["question_id"].unique():
        parts = [times[name, stage] for stage in ("retrieval", "context", "answer")]
        assert times[name, "end_to_end"] == pytest.approx(sum(parts))


def test_killed_in_the_middle_and_resumed(tmp_path):
    """DESIGN §9, law 8: only the request that was under way is sent again."""
    released = threading.Event()

    def script(body):
        if len(server.seen) == 3:
            released.wait(30)
        return first_piece(body)

    with serving(script) as server:
        path = project(tmp_path, server.url, answer={"concurrency": 1})
        runs = str(tmp_path / "runs")
        command = [sys.executable, "-m", "rayeval", "run", str(path), "--runs", runs]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        while len(server.seen) < 3 and process.poll() is None:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        released.set()
        [folder] = (tmp_path / "runs").glob("*-run-*")
        resumed = resume_run(str(folder), runs, Silent())
        assert sorted(server.counts.values()) == [1, 1, 1, 2]
        undisturbed = run(path, store=str(tmp_path / "other"))
    assert resumed.answers.equals(undisturbed.answers)


@pytest.mark.parametrize(
    ("part", "want"),
    [
        pytest.param({"bracket": ["closed"]}, "answer.bracket.0", id="no such bracket"),
        pytest.param({"bracket": ["closed_book"] * 2}, "named twice", id="bracket twice"),
        pytest.param({"repeats": 0}, "answer.repeats", id="no repeats"),
        pytest.param({"promt": "x"}, "did you mean prompt", id="typo"),
    ],
)
def test_settings_that_are_wrong(tmp_path, part, want):
    with pytest.raises(ConfigError, match=want):
        load_config(str(project(tmp_path, "http://127.0.0.1:1/v1", answer=part)))


def test_arms_side_by_side_hand_nothing_over(tmp_path):
    arm = {"kind": "bm25", "analyzer": {"kind": "whitespace"}}
    path = project(
        tmp_path, "http://127.0.0.1:1/v1", context=None, retrieve={"arms": {"a": arm, "b": arm}}
    )
    with pytest.raises(ConfigError, match="fuse: missing"):
        load_config(str(path))


def test_validate_tells_of_prompts_and_secrets(tmp_path, monkeypatch):
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    answer = {"prompt": "mine.md", "headers": {"Authorization": "Bearer ${NO_SUCH_KEY}"}}
    path = project(tmp_path, "http://127.0.0.1:1/v1", answer=answer)
    problems = [p.message for p in validate_config(str(path), (), _where(tmp_path))]
    assert any(str(tmp_path / "mine.md") in message for message in problems)
    assert any("NO_SUCH_KEY" in message for message in problems)
    assert len(problems) == 2


def _where(folder):
    from rayeval.execution.job import Options

    return Options(str(folder / "runs"))


def test_a_run_needs_no_answers(tmp_path):
    path = project(tmp_path, "http://127.0.0.1:1/v1")
    found = run(path, "answer=null")
    assert found.answers.is_empty()
    assert "answers.parquet" not in found.manifest["files"]
    assert RunConfig.model_validate(found.manifest["config"]).answer is None


TRACE = [
    {"question_id": "q1", "context": [{"chunk_id": "c2", "text": "z"}, {"chunk_id": "c1", "text": "x y"}],
     "answer": "x [E2], and [E7]"},
    {"question_id": "q1", "repeat": 1, "answer": "I don't know."},
    {"question_id": "q2", "context": ["x y"], "answer": "yes", "abstained": False, "citations": ["E1", "c9"]},
    {"question_id": "q3", "stages": {"r": {"hits": ["x y"]}}, "answer": "제공된 문서에서 찾을 수 없습니다."},
    {"question_id": "q4", "error": "boom"},
]  # fmt: skip


def test_answers_of_a_trace(tmp_path):
    golden = [
        {"question_id": f"q{n}", "question": "?", "evidence": [{"quote": "x y"}]}
        for n in range(1, 6)
    ]
    for name, lines in (("golden.jsonl", golden), ("trace.jsonl", TRACE)):
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (tmp_path / name).write_text(text)
    found = rayeval.score(
        golden=str(tmp_path / "golden.jsonl"),
        trace=str(tmp_path / "trace.jsonl"),
        metrics=["recall@1"],
        runs=str(tmp_path / "runs"),
    )
    columns = ("question_id", "repeat", "answer", "abstained", "citations", "context", "error")
    first, again, second, third, fourth = found.answers.select(columns).rows()
    assert first == ("q1", 0, "x [E2], and [E7]", False,
                     [{"mark": "E2", "chunk_id": "c1"}, {"mark": "E7", "chunk_id": None}],
                     ["c2", "c1"], None)  # fmt: skip
    assert again == ("q1", 1, None, True, [], ["c2", "c1"], None)
    [handed] = second[5]
    assert second[4] == [{"mark": "E1", "chunk_id": handed}, {"mark": "c9", "chunk_id": None}]
    assert third == ("q3", 0, None, True, [], None, None)
    assert fourth == ("q4", 0, None, None, None, None, "boom")
    assert found.passages.filter(chunk_id=handed)["text"].item() == "x y"


def test_answers_of_other_tools_are_handed_what_the_model_was_sent(tmp_path):
    sample = {"user_input": "?", "response": "x [E2]", "reference_contexts": ["x y"],
              "retrieved_contexts": ["z", "x y"]}  # fmt: skip
    (tmp_path / "ragas.jsonl").write_text(json.dumps(sample) + "\n")
    found = rayeval.score(
        golden=str(tmp_path / "ragas.jsonl"),
        trace=str(tmp_path / "ragas.jsonl"),
        format="ragas",
        metrics=["recall@1"],
        runs=str(tmp_path / "runs"),
    )
    [one] = found.answers.to_dicts()
    texts = dict(found.passages.select("chunk_id", "text").rows())
    assert [texts[name] for name in one["context"]] == ["z", "x y"]
    assert [texts[c["chunk_id"]] for c in one["citations"]] == ["x y"]


def test_an_unanswerable_question_may_be_answered(tmp_path):
    with serving(lambda body: told(False, "yes [E1]")) as server:
        found = run(project(tmp_path, server.url))
    [one] = rows(found, "q-moon")
    assert (one["answer"], one["abstained"]) == ("yes [E1]", False)


def test_the_time_of_answers_is_among_the_run_s(answered):
    found, _ = answered
    [line] = [line for line in run_text(found).splitlines() if line.startswith("answer   ")
              and line.endswith("batched")]  # fmt: skip
    assert line.split()[3] == str(len(QUESTIONS))
