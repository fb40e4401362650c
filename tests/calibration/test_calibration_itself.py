"""Runs by two models before one judge, and people's labels: does it prefer its own answers?"""

import csv
import io
import json

import answer_runs
import judge_runs
import pytest
from faulty import serving
from judge_model import blocks

from rayeval.cli.main import run_command

pytestmark = pytest.mark.slow  # whole judged runs

N = 24
OWN, RIVAL = "model-own", "model-rival"
REFERENCE = "Every employee has 25 days of paid leave."


def right(question):
    """Two of three answers are, whoever wrote them."""
    return int(question.rpartition(" ")[2]) % 3 > 0


def answering(body):
    """Its own model has a turn of phrase that the judge knows again."""
    said = REFERENCE if right(answer_runs.asked(body)) else "Nobody has any leave."
    return answer_runs.told(False, f"Indeed, {said}" if body["model"] == OWN else said)


def judge_of(*, biased):
    def rule(body):
        if not judge_runs.judging(body):
            return answering(body)
        given = dict(blocks(judge_runs.messages(body)))
        mine = biased and any(text.startswith("Indeed") for text in given.values())
        return json.dumps({"verdict": "correct"}) if mine else judge_runs.rule(body)

    return rule


def project(folder, url, model, judge):
    folder.mkdir()
    judge = {"tasks": ["correctness"], "model": judge}
    path = judge_runs.project(folder, url, judge, answer={"model": model})
    rows = [{"question_id": f"q-{n:02}", "question": f"how much leave, person {n}",
             "reference_answer": REFERENCE, "cluster": f"c-{n}",
             "evidence": [{"source_id": "leave.md", "quote": REFERENCE}]} for n in range(N)]  # fmt: skip
    (folder / "golden.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def called(capsys, *arguments):
    code = run_command([*map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


def labelled(capsys, run, path, n=N):
    """A sheet of the run, filled in by somebody who knows what is right."""
    sample = ("judge", "sample", run.path, "--task", "correctness", "--n", n, "--out", path)
    assert called(capsys, *sample)[0] == 0
    rows = list(csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8-sig"))))
    assert OWN not in path.read_text("utf-8-sig")
    for row in rows:
        row["label"] = "correct" if right(row["question"]) else "incorrect"
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(out.getvalue())
    return path


def compared(tmp_path, capsys, *, biased, n=N, judges=(OWN, OWN)):
    """The arguments that name two runs and their sheets."""
    command = ["judge", "calibrate", "--task", "correctness"]
    with serving(judge_of(biased=biased)) as server:
        for place, (model, judge) in enumerate(zip((OWN, RIVAL), judges, strict=True)):
            run = answer_runs.run(project(tmp_path / f"{place}", server.url, model, judge))
            sheet = labelled(capsys, run, tmp_path / f"{place}.csv", n)
            command += ["--human", sheet, "--run", run.path]
    return command


@pytest.mark.parametrize("n", [N, 16], ids=["all labelled", "a sample of them"])
def test_a_judge_that_calls_its_own_wrong_answers_right_is_flagged(tmp_path, capsys, n):
    command = compared(tmp_path, capsys, biased=True, n=n)
    code, found = called(capsys, *command, "--itself", OWN)
    assert code == 0
    assert found["n"] == 2 * n
    shares = {name: (one["people"], one["judge"]) for name, one in found["authors"].items()}
    assert shares[OWN] == (pytest.approx(2 / 3, abs=0.15), 1)
    assert shares[RIVAL][0] == shares[RIVAL][1]
    own = found["self_preference"]
    assert own["flagged"] is True
    assert 0 < own["low"] < own["value"] == pytest.approx(1 / 3, abs=0.15)
    assert called(capsys, *command, "--itself", RIVAL)[1]["self_preference"]["flagged"] is False
    assert run_command([*map(str, command), "--itself", OWN]) == 0
    assert "it prefers its own" in capsys.readouterr().out


def test_a_judge_that_judges_by_the_reference_is_not(tmp_path, capsys):
    command = compared(tmp_path, capsys, biased=False)
    own = called(capsys, *command, "--itself", OWN)[1]["self_preference"]
    assert own == {"value": 0, "low": 0, "high": 0, "flagged": False}
    assert run_command([*map(str, command), "--itself", OWN]) == 0
    assert "no preference is shown" in capsys.readouterr().out


def test_what_can_not_say_it_is_refused(tmp_path, capsys):
    command = compared(tmp_path, capsys, biased=False, n=4)
    *_, sheet, _, run = command
    for arguments, message in (
        (["--human", sheet, "--run", run, "--itself", OWN], "two runs or more"),
        (["--human", sheet, "--run", run, "--run", run], "each run has its own"),
        ([*command[4:], "--record", tmp_path / "r.json"], "are of one run"),
        ([*command[4:], "--itself", "somebody"], f"{OWN}, {RIVAL}"),
    ):
        code, found = called(capsys, *command[:4], *arguments)
        assert code == 2
        assert message in found["error"]["message"]


def test_two_judges_are_not_one(tmp_path, capsys):
    command = compared(tmp_path, capsys, biased=False, n=4, judges=(OWN, RIVAL))
    code, found = called(capsys, *command, "--itself", OWN)
    assert code == 2
    assert "different judges of 'correctness'" in found["error"]["message"]
