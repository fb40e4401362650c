"""Judged runs: their tables, what is asked again, what a kill costs, what they compare with."""

import json
import signal
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import answer_runs
import polars as pl
import pytest
from answer_runs import run
from faulty import Fault, serving
from judge_runs import judged_requests, judging, messages, project, rule
from typer.testing import CliRunner

from rayeval.chat.budget import prompt_tokens
from rayeval.chat.engine import Request
from rayeval.cli.main import app
from rayeval.comparison.differences import refuse
from rayeval.errors import ConfigError, PairingError
from rayeval.execution.evaluate import preview
from rayeval.execution.job import Options
from rayeval.execution.load import load_config
from rayeval.execution.models import judge_pins
from rayeval.execution.progress import Silent
from rayeval.execution.resume import resume_run
from rayeval.report.question import question_text
from rayeval.report.terminal import run_text

pytestmark = pytest.mark.slow  # whole judged runs

BRACKETS = {"bracket": ["closed_book", "gold_context"]}


def tables(found):
    """The bytes of every table but the one of times."""
    names = sorted(n for n in found.manifest["files"] if n.endswith(".parquet"))
    return {n: found.manifest["files"][n]["sha256"] for n in names if n != "latency.parquet"}


def test_a_run_has_what_its_judge_said(tmp_path):
    with serving(rule) as server:
        found = run(project(tmp_path, server.url, answer=BRACKETS))
    rows = found.judgements
    assert rows.select("question_id", "variant").unique().height == rows.height == 12
    assert set(rows["error"]) == {None}
    [leave] = rows.filter(question_id="q-leave", variant="answer").to_dicts()
    assert {claim["support"] for claim in leave["claims"]} == {"supported"}
    assert leave["correctness"] == "correct"
    [moon] = rows.filter(question_id="q-moon", variant="answer").to_dicts()
    assert (moon["claims"], moon["correctness"]) == (None, None)
    assert len(moon["relevance"]) == 2
    [gold] = rows.filter(question_id="q-it", variant="gold_context").to_dicts()
    assert [one["context"] for one in gold["reference_claims"]] == ["supported"]
    pins = found.manifest["judge"]
    assert (pins["model"], pins["temperature"], pins["seed"]) == ("scripted-judge", 0.0, 42)
    assert {len(prompt["hash"]) for prompt in pins["prompts"].values()} == {32}
    assert found.summary()["judge"]["outcomes"]["correctness"] == {"ok": 4}
    assert "correctness             4 of 4" in run_text(found)


def test_a_question_is_shown_with_its_claims_and_what_was_no_verdict(tmp_path):
    def script(body):
        support = judging(body) and "numbered passages" in body["messages"][0]["content"]
        return '{"verdicts": []}' if support else rule(body)

    with serving(script) as server:
        text = question_text(run(project(tmp_path, server.url)), "q-leave")
    assert "answer, judged: correct; passages graded" in text
    assert "not judged: support, wrong_count: " in text
    assert max(map(len, text.splitlines())) <= 100


def test_verdicts_that_failed_are_asked_again_by_the_next_run_and_no_others(tmp_path):
    """An error is never taken for a verdict; what was said is not asked for again."""
    down = True

    def script(body):
        correctness = judging(body) and body["messages"][0]["content"].startswith("You judge")
        return Fault(status=503) if down and correctness else rule(body)

    with serving(script) as server:
        path = project(tmp_path, server.url)
        first = run(path)
        asked = Counter(judged_requests(server))
        down = False
        second = run(path)
        again = Counter(judged_requests(server)) - asked
        third = run(path)
        assert Counter(judged_requests(server)) - asked == again == {"correctness": 2}
    assert first.judgements["correctness"].count() == 0
    assert second.judgements["correctness"].count() == 2
    assert tables(second) == tables(third)


def test_a_question_that_nothing_could_be_judged_of_is_an_error(tmp_path):
    with serving(lambda body: Fault(status=400) if judging(body) else rule(body)) as server:
        found = run(project(tmp_path, server.url))
    assert found.judgements["error"].count() == found.judgements.height == 4
    assert "4 questions not judged" in run_text(found)
    assert found.failures["status"].to_list() == ["error"] * 3, (
        "nobody knows whether they are right"
    )
    assert found.failures["reached_stages"].list.last().to_list() == ["context"] * 3


def test_a_sample_is_judged_twice(tmp_path):
    """The second opinion is another request; where it differs, agreement says so."""

    def script(body):
        second = judging(body) and body.get("seed") == 43 and "paid leave" in str(body)
        correctness = body["messages"][0]["content"].startswith("You judge")
        return '{"verdict": "incorrect"}' if second and correctness else rule(body)

    with serving(script) as server:
        found = run(project(tmp_path, server.url, judge={"twice": {"sample": 4}}))
    assert found.judged_again.height == 4
    agreement = found.summary()["judge"]["self_agreement"]
    assert found.judgements.filter(correctness="correct").height == 2
    assert agreement["correctness"] == {"agreement": 0.5, "n": 2}
    assert agreement["support"]["agreement"] == 1.0
    assert "judged twice, correctness: the same verdict 1 of 2 times (50%)" in run_text(found)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        pytest.param({}, None, id="the same judge"),
        pytest.param({"concurrency": 1, "tasks": ["correctness"]}, None, id="fewer tasks"),
        pytest.param({"model": "other"}, "model: scripted-judge → other", id="another model"),
        pytest.param({"revision": "2"}, "revision: none → 2", id="another revision"),
        pytest.param({"temperature": 0.7}, "temperature: 0.0 → 0.7", id="another temperature"),
        pytest.param({"prompts": {"correctness": "mine.md"}}, "prompt of correctness",
                     id="another prompt"),
    ],
)  # fmt: skip
def test_judgements_compare_only_under_one_judge(tmp_path, change, said):
    prompt = "---\nname: mine\nversion: 1\n---\n# user\n{{ question }} {{ answer }}\n"
    (tmp_path / "mine.md").write_text(prompt)
    base, new = (judged_by(tmp_path, change) for change in ({}, change))
    if said is None:
        refuse(base, new, ())
        return
    with pytest.raises(PairingError, match="--allow judge") as caught:
        refuse(base, new, ())
    assert said in str(caught.value)
    refuse(base, new, ("judge",))


def judged_by(folder, change):
    """A run as far as its judge goes."""
    path = project(folder, "http://127.0.0.1:9/v1", judge=change)
    pins = judge_pins(load_config(str(path)).config.judge)
    manifest = {"golden": {"sha256": "g"}, "corpus": {}, "judge": pins}
    return SimpleNamespace(run_id="r", manifest=manifest)


def planned(path):
    where = Options(runs=str(path.parent / "runs"))
    return {row["step"]: row for row in preview(load_config(str(path)), where)[1]}


@pytest.mark.parametrize(("sample", "timed"), [(2, 2 + 2), (4, 4 + 3), (50, 4 + 3)])
def test_the_estimate_counts_the_latency_pass_again_and_again(tmp_path, sample, timed):
    """Each question once more, and up to three before to warm up: whatever the log has."""
    with serving(rule) as server:
        budget = {"budget": {"max_tokens": 90_000}}
        path = project(tmp_path, server.url, answer={"repeats": 2, **budget},
                       latency={"sample": sample})  # fmt: skip
        asked = planned(path)
        assert (asked["latency"]["requests"], asked["latency"]["requests_least"]) == (timed, timed)
        assert asked["latency"]["max_tokens"] == 90_000
        assert asked["judged"]["max_tokens"] is None
        run(path)
        sent = [body for body in server.seen if not judging(body)]
        assert len(sent) == asked["answers"]["requests"] + timed
        most = asked["answers"]["prompt_tokens"] + asked["latency"]["prompt_tokens"]
        assert sum(prompt_tokens(Request(tuple(messages(b)), "")) for b in sent) <= most
        assert set(planned(path)) == {"latency"}, "answers are in the store; times are taken anew"


@pytest.mark.parametrize("refused", [True, False])
def test_what_a_judge_is_asked_lies_in_the_range_that_was_stated(tmp_path, refused):
    def answering(body):
        return rule(body) if judging(body) or not refused else answer_runs.told(True)

    with serving(answering) as server:
        path = project(tmp_path, server.url, answer={"repeats": 2})
        stated = planned(path)["judged"]
        run(path)
        sent = sum(map(judging, server.seen))
    assert stated["requests_least"] < stated["requests"]
    assert sent == stated["requests_least"] if refused else sent > stated["requests_least"]
    assert sent <= stated["requests"]


def test_the_estimate_is_an_upper_bound(tmp_path):
    with serving(rule) as server:
        prices = {"input_per_million": 1.0, "output_per_million": 2.0}
        judge = {"prices": prices, "twice": {"sample": 2}}
        path = project(
            tmp_path, server.url, judge=judge, answer={"bracket": ["closed_book"], "repeats": 2}
        )
        loaded, where = load_config(str(path)), Options(runs=str(tmp_path / "runs"))
        _, asked = preview(loaded, where)
        assert server.seen == [], "nobody is asked"
        run(path)
        _, left = preview(loaded, where)
        seen = [body for body in server.seen if judging(body)]
    bound = {row["step"]: row for row in asked}
    assert set(bound) == {"answers", "answers:closed_book", "judged", "judged_again"}
    both = [bound["judged"], bound["judged_again"]]
    sizes = [prompt_tokens(Request(tuple(messages(body)), "")) for body in seen]
    assert sum(row["requests"] for row in both) >= len(seen)
    assert sum(row["prompt_tokens"] for row in both) >= sum(sizes)
    judged = bound["judged"]
    cost = (judged["prompt_tokens"] + 2 * judged["completion_tokens"]) / 1e6
    assert judged["cost_usd"] == pytest.approx(cost)
    assert left == [], "what is stored is not asked for"


def test_a_dry_run_says_what_would_be_asked(tmp_path):
    path = project(tmp_path, "http://127.0.0.1:9/v1")
    command = ["run", str(path), "--dry-run", "--runs", str(tmp_path / "runs")]
    text = CliRunner().invoke(app, command).stdout
    assert "Requests to chat models" in text
    assert max(map(len, text.splitlines())) <= 100
    rows = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)["requests"]
    assert [row["step"] for row in rows] == ["answers", "judged"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"answer": None}, "judge: there are no answers to judge", id="no answers"),
        pytest.param({"judge": {"kind": "person"}}, "unknown kind 'person'", id="no such kind"),
    ],
)
def test_what_is_wrong_with_a_configuration_is_said(tmp_path, change, message):
    path = project(tmp_path, "http://127.0.0.1:9/v1")
    values = json.loads(json.dumps(load_config(str(path)).config.model_dump(mode="json")))
    path.write_text(json.dumps({**values, **change}))
    with pytest.raises(ConfigError, match=message):
        load_config(str(path))


def many(folder: Path, n: int) -> None:
    rows = [{"question_id": f"q-{i:03}", "question": f"how many days of paid leave, person {i}",
             "reference_answer": f"Every employee has {i} days.", "answerable": True,
             "evidence": [{"source_id": "leave.md", "quote": "25 days"}]} for i in range(n)]  # fmt: skip
    (folder / "golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.mark.slow
def test_killed_at_60_percent_of_200_calls_and_resumed(tmp_path):
    """No request whose reply was logged is sent again, and the tables are an undisturbed run's."""
    concurrency, reached, go_on = 4, threading.Event(), threading.Event()
    calls = []

    def script(body):
        if judging(body):
            calls.append(json.dumps(body["messages"]))
            if len(calls) >= 120 and not go_on.is_set():
                reached.set()
                go_on.wait(30)
        return rule(body)

    with serving(script) as server:
        judge = {"concurrency": concurrency, "tasks": ["correctness", "relevance", "citations"]}
        path = project(tmp_path, server.url, judge=judge)
        many(tmp_path, 67)
        command = [
            sys.executable,
            "-m",
            "rayeval",
            "run",
            str(path),
            "--runs",
            str(tmp_path / "runs"),
        ]
        quiet = {"stderr": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
        process = subprocess.Popen(command, **quiet)
        assert reached.wait(60)
        process.send_signal(signal.SIGKILL)
        process.wait()
        before = Counter(calls)
        go_on.set()
        [folder] = (tmp_path / "runs").glob("*-run-*")
        resumed = resume_run(str(folder), "runs", Silent())
        twice = [name for name, count in Counter(calls).items() if count > 1]
        assert len(Counter(calls)) >= 200
        assert max(before.values()) == 1
        assert len(twice) <= concurrency
        undisturbed = run(path, store=str(tmp_path / "other"))
    assert tables(resumed) == tables(undisturbed)
    assert resumed.judgements.filter(pl.col("correctness").is_null()).height == 0
