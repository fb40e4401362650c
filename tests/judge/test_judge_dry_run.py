"""What a dry run says of requests: what the log spares, the sum, and what is more than a budget."""

import json

import pytest
from faulty import serving
from judge_runs import answer_runs, judging, project, rule
from typer.testing import CliRunner

from rayeval.cli.main import app
from rayeval.execution.evaluate import preview
from rayeval.execution.job import Options
from rayeval.execution.load import load_config
from rayeval.report.dry_run import over_budget, total

pytestmark = pytest.mark.slow  # whole judged runs

PROMPT = """---
name: mine
version: 1
---
# system
{start}
# user
{body}
"""
CORRECTNESS = PROMPT.format(
    start="You judge whether an answer is right. <<<{{ fence }} and {{ fence }}>>> fence texts.",
    body="The reference answer:\n<<<{{ fence }}\n{{ reference }}\n{{ fence }}>>>\n"
    "The answer to judge:\n<<<{{ fence }}\n{{ answer }}\n{{ fence }}>>>",
)
CLAIMS = PROMPT.format(
    start="You split texts, anew. <<<{{ fence }} and {{ fence }}>>> fence texts.",
    body="The text:\n<<<{{ fence }}\n{{ text }}\n{{ fence }}>>>",
)


def stated(path, *sets):
    rows = preview(load_config(str(path), sets), Options(runs=str(path.parent / "runs")))[1]
    return {row["step"]: row for row in rows}


@pytest.mark.parametrize("twice", [False, True])
def test_another_prompt_of_one_task_is_priced_alone(tmp_path, twice):
    """All else is in the log: what is stated is what a run then asks, to the request."""
    (tmp_path / "mine.md").write_text(CORRECTNESS)
    own = f"judge.prompts.correctness={tmp_path / 'mine.md'}"
    with serving(rule) as server:
        settings = {"twice": {"sample": 2}} if twice else {}
        path = project(tmp_path, server.url, settings, answer={"repeats": 2})
        bound = stated(path)
        assert bound["judged"]["logged"] is None, "no answer is there to be judged"
        answer_runs.run(path)
        before = len(server.seen)
        left = stated(path, own)
        answer_runs.run(path, own)
        sent = server.seen[before:]
    assert set(left) == ({"judged", "judged_again"} if twice else {"judged"})
    assert all(map(judging, sent))
    assert sum(row["requests"] for row in left.values()) == len(sent) > 0
    assert all(row["requests"] == row["requests_least"] for row in left.values())
    judged = sum(row["logged"] + row["requests"] for row in left.values())
    assert judged == before - 8, "every request of the judge's first time, and none of the answers'"
    assert left["judged"]["prompt_tokens"] < bound["judged"]["prompt_tokens"] / 5


def test_what_waits_for_claims_is_counted_at_most(tmp_path):
    """Other claims are other questions about them: as many as there are answers, at most."""
    (tmp_path / "mine.md").write_text(CLAIMS)
    own = f"judge.prompts.claims={tmp_path / 'mine.md'}"
    with serving(rule) as server:
        path = project(tmp_path, server.url, answer={"bracket": ["closed_book"]})
        answer_runs.run(path)
        before = len(server.seen)
        left = stated(path, own)["judged"]
        answer_runs.run(path, own)
        sent = len(server.seen) - before
    assert left["requests_least"] <= sent <= left["requests"]
    assert 0 < left["requests_least"] < left["requests"]
    assert left["logged"] > 0, "correctness and relevance are asked as before"


def test_a_prompt_of_answers_leaves_the_closed_book_alone(tmp_path):
    with serving(rule) as server:
        path = project(tmp_path, server.url, answer={"bracket": ["closed_book"]})
        answer_runs.run(path)
        (tmp_path / "mine.md").write_text(PROMPT.format(start="Answer.", body="{{ question }}"))
        left = stated(path, f"answer.prompt={tmp_path / 'mine.md'}")
        seen = len(server.seen)
        again = stated(path, "answer.repeats=2")
    assert (left["answers"]["requests"], left["answers"]["logged"]) == (4, 0)
    assert "answers:closed_book" not in left
    assert (again["answers"]["requests"], again["answers"]["logged"]) == (4, 4)
    assert seen == len(server.seen), "nobody is asked"


def row(step, usd=None, budget=None, tokens=None, n=2):
    return {"step": step, "requests": n, "requests_least": 1, "prompt_tokens": 10 * n,
            "completion_tokens": n, "cost_usd": usd, "max_cost_usd": budget, "max_tokens": tokens}  # fmt: skip


def test_the_sum_and_what_is_more_than_a_budget():
    rows = [
        row("answers", 0.5, 1.0),
        row("judged", 0.77, 0.5, n=3),
        row("judged_again", 0.1, tokens=9),
    ]
    whole = total(rows)
    assert (whole["requests"], whole["requests_least"], whole["prompt_tokens"]) == (7, 3, 70)
    assert whole["cost_usd"] == pytest.approx(1.37)
    assert total([*rows, row("latency")])["cost_usd"] is None
    first, second = over_budget(rows)
    assert first.startswith("judged may come to $0.77, and its budget is $0.50")
    assert second.startswith("judged_again may come to 22 tokens, and its budget is 9")


def test_a_dry_run_sums_up_and_warns(tmp_path):
    prices = {"prices": {"input_per_million": 10.0, "output_per_million": 10.0}}
    judge = {**prices, "budget": {"max_cost_usd": 0.01}}
    path = project(tmp_path, "http://127.0.0.1:9/v1", judge, answer={"repeats": 3, **prices})
    command = ["run", str(path), "--dry-run", "--runs", str(tmp_path / "runs")]
    text = CliRunner().invoke(app, command).stdout
    assert "\nin all " in text
    assert "judged may come to $" in text
    assert "and its budget is $0.01" in text
    assert "answer.repeats is 3 at temperature 0" in text
    assert max(map(len, text.splitlines())) <= 100
    found = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    assert found["total"]["requests"] == sum(one["requests"] for one in found["requests"])
    assert len(found["warnings"]) == 2


@pytest.mark.parametrize(
    ("answer", "warned"),
    [
        pytest.param({"repeats": 3}, True, id="repeats at temperature 0"),
        pytest.param({"repeats": 3, "temperature": 0.7}, False, id="they differ"),
        pytest.param({}, False, id="one answer"),
    ],
)
def test_repeats_that_hardly_differ_are_warned_of(tmp_path, answer, warned):
    with serving(rule) as server:
        path = project(tmp_path, server.url, answer=answer)
        found = CliRunner().invoke(app, ["validate", str(path), "--json"])
        kinds = [one["kind"] for one in json.loads(found.stdout)["warnings"]]
        assert ("repeats_at_temperature_0" in kinds) == warned
        assert found.exit_code == 0
        run = answer_runs.run(path)
    assert any("at temperature 0" in line for line in run.manifest["warnings"]) == warned


def test_the_list_of_runs_says_what_stopped_short(tmp_path):
    with serving(rule) as server:
        judge = {"budget": {"max_tokens": 3_000}}
        path = project(tmp_path, server.url, judge)
        whole = answer_runs.run(path, "judge.budget.max_tokens=null")
        short = answer_runs.run(path, store=str(tmp_path / "other"))
        down = answer_runs.run(path, "answer.model=other", "answer.url=http://127.0.0.1:9/v1")
    runs = str(tmp_path / "runs")
    rows = json.loads(CliRunner().invoke(app, ["runs", "list", "--runs", runs, "--json"]).stdout)
    said = {one["run_id"]: one["unfinished"] for one in rows["runs"]}
    assert said[whole.run_id] == []
    assert said[short.run_id][-1].endswith("requests of the judge: budget")
    assert said[down.run_id][:2] == ["3 of 3 questions: error", "4 of 4 answers: error"]
    text = CliRunner().invoke(app, ["runs", "list", "--runs", runs]).stdout
    assert "3 of 3 questions: error" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 100


def test_a_prompt_of_nothing_but_the_question_is_estimated(tmp_path):
    (tmp_path / "bare.md").write_text("---\nname: bare\nversion: 1\n---\n# user\n{{ question }}\n")
    with serving(rule) as server:
        path = project(tmp_path, server.url, answer={"prompt": "bare.md"})
        found = stated(path)
    assert found["answers"]["requests"] == 4
