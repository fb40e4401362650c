"""A judge that minds the order, the length or its mood is found out; one that doesn't is not."""

import json

import answer_runs
import judge_runs
import pytest
from faulty import serving
from judge_model import blocks, task_of

from rayeval.cli.main import run_command
from rayeval.execution.sampling import verdicts

pytestmark = pytest.mark.slow  # a judge asked many times


def moody(judging_by):
    """The judge by rule, but for what `judging_by` says of (task, messages, verdict)."""

    def script(body):
        said = judge_runs.rule(body)
        if not judge_runs.judging(body):
            return said
        messages = judge_runs.messages(body)
        return json.dumps(judging_by(task_of(messages), messages, json.loads(said), body))

    return script


def first_is_best(task, messages, found, body):
    """Gives the first passage the best grade, whatever it says."""
    return {"grades": [3] + [0] * (len(found["grades"]) - 1)} if task == "relevance" else found


def likes_length(task, messages, found, body):
    if task != "correctness":
        return found
    answer = dict(blocks(messages))["The answer to judge"]
    return {"verdict": "correct" if len(answer) > 80 else "incorrect"}


def seeded(task, messages, found, body):
    """Says something else at its second seed."""
    if task != "correctness" or body["seed"] == 42:
        return found
    return {"verdict": "incorrect"}


def by_rule(task, messages, found, body):
    return found


def probes(capsys, folder, script, task):
    with serving(moody(script)) as server:
        run = answer_runs.run(judge_runs.project(folder, server.url))
        people = folder / "people.jsonl"
        rows = [{"item_id": name, "label": "2" if task == "relevance" else "correct"}
                for name in verdicts(run, task)["item_id"]]  # fmt: skip
        people.write_text("".join(json.dumps(row) + "\n" for row in rows))
        command = ["judge", "calibrate", "--human", people, "--run", run.path, "--task", task,
                   "--runs", folder / "runs", "--probes", 10]  # fmt: skip
        before = len(server.seen)
        found = called(capsys, *command)
        asked = len(server.seen)
        assert asked > before
        assert called(capsys, *command) == found
        assert len(server.seen) == asked  # what the log knows is not asked again
    return found["probes"]


def called(capsys, *arguments):
    code = run_command([*map(str, arguments), "--json"])
    found = json.loads(capsys.readouterr().out)
    assert code == 0, found
    return found


@pytest.mark.parametrize(
    ("script", "task", "want"),
    [
        pytest.param(by_rule, "relevance", {"again": 0, "position": 0}, id="a steady judge"),
        pytest.param(first_is_best, "relevance", {"again": 0, "position": 6}, id="position"),
        pytest.param(likes_length, "correctness", {"again": 0, "verbosity": 2}, id="verbosity"),
        pytest.param(seeded, "correctness", {"again": 2, "verbosity": 0}, id="mood"),
    ],
)
def test_a_probe_finds_what_the_judge_minds(capsys, tmp_path, script, task, want):
    found = probes(capsys, tmp_path, script, task)
    assert {kind: found[kind]["flips"] for kind in want} == want
    for one in found.values():
        assert one["flips"] == one["better"] + one["worse"]
        if one["n"]:
            low, high = one["limits"]
            assert low <= one["flips"] / one["n"] <= high
    # of the four contexts one is a single passage, and an answer as a whole is no list
    assert found["position"]["n"] == (0 if task == "correctness" else found["again"]["n"] - 1)


def test_probes_need_a_run(capsys, tmp_path):
    (tmp_path / "l.csv").write_text("item_id,label\na,1\n")
    files = ["--human", str(tmp_path / "l.csv"), "--judge", str(tmp_path / "l.csv")]
    assert run_command(["judge", "calibrate", *files, "--probes", "3", "--json"]) == 2
    assert "--probes asks the judge of a run" in capsys.readouterr().out
