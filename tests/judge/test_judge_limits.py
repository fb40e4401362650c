"""One minute's allowance for all who ask an endpoint: steps, workers, actors, runs."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from answer_runs import run
from faulty import Fault, serving
from judge_runs import project, rule

from rayeval.execution.load import load_config
from rayeval.execution.plan.limits import limited

GAP_S = 0.8
RATE = {"requests_per_minute": 60 / GAP_S}
SAME = {"model": "scripted", "tasks": ["correctness"], "twice": {"sample": 1}}


def gaps(times):
    return [after - before for before, after in pairwise(times)]


def asked(tmp_path, server, *options):
    path = project(tmp_path, server.url, {**SAME}, answer={**RATE, "bracket": ["closed_book"]},
                   latency={"sample": 1})  # fmt: skip
    command = ["run", path, "--limit", "2", "--runs", tmp_path / "runs", *options]
    env = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    subprocess.run([sys.executable, "-m", "rayeval", *map(str, command)], check=True, env=env)
    assert len(server.times) >= 2 + 2 + 1 + 1 + 1
    # Steps that don't share it save the gap before each of them; one may reach the server late.
    assert server.times[-1] - server.times[0] >= (len(server.times) - 2) * GAP_S


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--workers", "2"]], ids=["one process", "two workers"])
def test_answers_brackets_judge_and_latency_share_it_by_default(tmp_path, options):
    """The judge states no limit: it is the same endpoint, and so the same limit."""
    with serving(rule) as server:
        asked(tmp_path, server, *options)


@pytest.mark.ray
def test_actors_share_it_too(tmp_path):
    with serving(rule) as server:
        asked(tmp_path, server, "--ray")


def test_a_pause_that_was_asked_of_one_step_holds_for_the_next(tmp_path):
    """The last answer is told to wait for a second; what is asked then is a bracket."""
    script = {3: Fault(429, b"", {"Retry-After": "1"})}

    def told(body):
        return script.pop(len(server.seen) - 1, None) or rule(body)

    limit = {"requests_per_minute": 60_000, "retries": 0, "concurrency": 1}
    with serving(told) as server:
        run(project(tmp_path, server.url, {**SAME, "twice": None},
                    answer={**limit, "bracket": ["closed_book"]}))  # fmt: skip
    assert gaps(server.times)[3] >= 0.95


@pytest.mark.parametrize(
    ("judge", "want"),
    [
        pytest.param({"model": "scripted"}, (30, 900), id="the same endpoint"),
        pytest.param(
            {"model": "scripted", "requests_per_minute": 20, "tokens_per_minute": 2000},
            (20, 900), id="the strictest of each",
        ),
        pytest.param({"model": "another"}, (None, None), id="another model"),
    ],
)  # fmt: skip
def test_the_strictest_limit_that_is_stated_holds(tmp_path, judge, want):
    limits = {"requests_per_minute": 30, "tokens_per_minute": 900}
    path = project(tmp_path, "http://127.0.0.1:1/v1", judge, answer=limits)
    config = load_config(str(path), ()).config
    held = limited(config.judge, config)
    assert (held.requests_per_minute, held.tokens_per_minute) == want
    strict = min(20, 30) if judge.get("requests_per_minute") else 30
    assert limited(config.answer, config).requests_per_minute == strict


TWO = """
import sys
from rayeval.chat import build
from rayeval.chat.config import OpenAI
from rayeval.chat.engine import Request
from rayeval.live.log import Nothing
config = OpenAI(url=sys.argv[1], model="m", requests_per_minute=60 / 0.2)
asked = [Request((("user", sys.argv[3] + str(n)),), prompt="p") for n in range(6)]
build(config, Nothing(), folder=sys.argv[2]).complete(asked)
"""


def test_two_runs_at_once_over_one_store_share_it(tmp_path):
    with serving(lambda body: "ok") as server:
        command = [sys.executable, "-c", TWO, server.url, str(tmp_path)]
        env = {**os.environ, "PYTHONPATH": str(Path.cwd())}
        both = [subprocess.Popen([*command, name], env=env) for name in "ab"]
        assert [one.wait(timeout=120) for one in both] == [0, 0]
    assert len(server.times) == 12
    assert max(server.times) - min(server.times) >= 11 * 0.2 - 0.2
