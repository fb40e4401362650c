"""Answers that a foreign trace brings with it, judged."""

import json

import pytest
import yaml
from faulty import serving
from judge_runs import rule
from typer.testing import CliRunner

from rayeval.cli.main import app
from rayeval.errors import ConfigError, DataError
from rayeval.execution.score import ScoreOptions, score

GOLDEN = [
    {"question_id": "q-leave", "question": "how many days of leave", "answerable": True,
     "reference_answer": "Every employee has 25 days of leave.",
     "evidence": [{"quote": "25 days of leave"}]},
    {"question_id": "q-ko", "question": "승인은 며칠?", "evidence": [{"quote": "5일이 걸린다"}]},
    {"question_id": "q-moon", "question": "is there a moon base", "answerable": False},
    {"question_id": "q-none", "question": "who leads", "evidence": [{"quote": "Kim leads"}]},
]  # fmt: skip
LEAVE = {"chunk_id": "c1", "text": "Every employee has 25 days of leave. Leave is not paid out."}
VPN = {"chunk_id": "c2", "text": "VPN tokens expire after 90 days."}
TRACE = [
    {"question_id": "q-leave", "stages": {"found": {"hits": [LEAVE, VPN]}}, "context": [LEAVE, VPN],
     "answer": "Every employee has 25 days of leave. VPN tokens expire after 90 days.",
     "citations": ["c1", "E2", "c9"]},
    {"question_id": "q-leave", "repeat": 1, "answer": "Leave is paid out [E1]."},
    {"question_id": "q-ko", "stages": {"found": {"hits": ["승인에 5일이 걸린다."]}},
     "context": ["승인에 5일이 걸린다."],
     "answer": "승인에 5일이 걸린다 [E1]."},
    {"question_id": "q-moon", "stages": {"found": {"hits": [VPN]}}, "context": [VPN],
     "answer": "I don't know."},
    {"question_id": "q-none", "stages": {"found": {"hits": [VPN]}}},
]  # fmt: skip


def written(folder, url, trace=TRACE, **judge):
    for name, rows in (("golden", GOLDEN), ("trace", trace)):
        lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        (folder / f"{name}.jsonl").write_text(lines)
    part = {"kind": "openai", "url": url, "model": "scripted-judge", "retries": 0, **judge}
    (folder / "judge.yaml").write_text(yaml.safe_dump({"judge": part}))
    options = ScoreOptions(runs=str(folder / "runs"), judge=str(folder / "judge.yaml"))
    return str(folder / "golden.jsonl"), [str(folder / "trace.jsonl")], options


def test_answers_of_a_trace_are_judged(tmp_path):
    with serving(rule) as server:
        found = score(*written(tmp_path, server.url))
    rows = {(row["question_id"], row["repeat"]): row for row in found.judgements.to_dicts()}
    assert set(rows) == {("q-leave", 0), ("q-leave", 1), ("q-ko", 0), ("q-moon", 0)}
    first = rows["q-leave", 0]
    assert [one["citations"] for one in first["claims"]] == [["c1", "c2"], ["c1", "c2"]]
    assert [one["support"] for one in first["claims"]] == ["supported", "supported"]
    assert first["correctness"] == "correct"
    [second] = rows["q-leave", 1]["claims"]
    assert (second["support"], second["citations"]) == ("not_in_context", ["c1"])
    assert rows["q-ko", 0]["claims"][0]["cited"] == "supported"
    assert rows["q-moon", 0]["claims"] is None, "a refusal, by its words"
    answers = {(row["question_id"], row["repeat"]): row for row in found.answers.to_dicts()}
    assert answers["q-moon", 0]["abstained"]
    assert answers["q-leave", 0]["context"] == ["c1", "c2"]
    assert answers["q-leave", 0]["citations"] == [
        {"mark": "c1", "chunk_id": "c1"},
        {"mark": "E2", "chunk_id": "c2"},
        {"mark": "c9", "chunk_id": None},
    ]
    assert found.manifest["judge"]["model"] == "scripted-judge"
    assert found.damage() == []


def test_the_command_judges_answers(tmp_path):
    with serving(rule) as server:
        golden, [trace], options = written(tmp_path, server.url)
        command = ["score", "--golden", golden, "--trace", trace, "--judge", options.judge]
        done = CliRunner().invoke(app, [*command, "--runs", options.runs, "--json"])
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["judge"]["outcomes"]["correctness"] == {"ok": 2}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("judges: {}", "expected a part judge", id="no judge in it"),
        pytest.param("judge: {kind: openai}", "judge.*url", id="no address"),
        pytest.param("judge: {kind: person}", "judge", id="no such kind"),
    ],
)
def test_what_is_wrong_with_the_judge_file_is_said(tmp_path, text, message):
    golden, trace, options = written(tmp_path, "http://127.0.0.1:9/v1")
    (tmp_path / "judge.yaml").write_text(text)
    with pytest.raises(ConfigError, match=message):
        score(golden, trace, options)


def test_a_trace_without_answers_can_not_be_judged(tmp_path):
    given = written(tmp_path, "http://127.0.0.1:9/v1", trace=TRACE[-1:])
    with pytest.raises((ConfigError, DataError), match="no answers to judge"):
        score(*given)
