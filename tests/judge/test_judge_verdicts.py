"""Verdicts that came with a trace: RAGChecker's claims as judgements of its answers."""

import json
import math
from pathlib import Path

import polars as pl
import pytest
import yaml
from faulty import serving
from judge_runs import rule
from typer.testing import CliRunner

import rayeval
from rayeval.cli.main import app
from rayeval.errors import ConfigError, DataError, PairingError
from rayeval.execution.score import ScoreOptions, score
from rayeval.ids import made_question_id
from rayeval.report.page.answers import standing

PRODUCED = Path(__file__).parent.parent / "interop" / "produced"
YES, NO, OFF = "Entailment", "Neutral", "Contradiction"
RESULT = {
    "query_id": "q1", "query": "How many days?", "gt_answer": "25 days. 5 carry over.",
    "response": "25 days, paid out in May by post.",
    "retrieved_context": [{"doc_id": "a", "text": "Leave: 25 days."},
                          {"doc_id": "b", "text": "It is paid out."},
                          {"doc_id": "c", "text": "In June."}],
    "response_claims": [["Leave", "is", "25 days"], "Leave is paid out", ["It", "is", "in May"],
                        ["It", "comes", "by post"]],
    "gt_answer_claims": [["Leave", "is", "25 days"], ["5 days", "carry", "over"]],
    "answer2response": [YES, NO, OFF, NO],
    "retrieved2response": [[YES, NO, NO], [NO, YES, NO], [NO, NO, OFF], [NO, NO, NO]],
    "response2answer": [YES, NO],
    "retrieved2answer": [[YES, NO, NO], [NO, NO, NO]],
}  # fmt: skip
CLAIMED = {
    "claim_precision": 1 / 4, "claim_recall": 1 / 2, "claim_f1": 1 / 3, "faithfulness": 2 / 4,
    "hallucination": 2 / 4, "self_knowledge": 0, "noise": 1 / 4, "noise_relevant": 0,
    "noise_irrelevant": 1 / 4, "context_claim_recall": 1 / 2, "context_utilization": 1,
}  # fmt: skip
THEIRS = {
    "precision": "claim_precision", "recall": "claim_recall", "f1": "claim_f1",
    "claim_recall": "context_claim_recall", "context_utilization": "context_utilization",
    "noise_sensitivity_in_relevant": "noise_relevant",
    "noise_sensitivity_in_irrelevant": "noise_irrelevant", "hallucination": "hallucination",
    "self_knowledge": "self_knowledge", "faithfulness": "faithfulness",
}  # fmt: skip
"""RAGChecker's metrics → ours."""


def written(folder, *results, name="checked.json"):
    path = folder / name
    path.write_text(json.dumps({"results": [{**RESULT, **one} for one in results]}))
    return str(path)


def scored(path, folder, **more):
    options = ScoreOptions(format="ragchecker", runs=str(folder / "runs"), **more)
    return score(path, [path], options)


def values(run, question="q1"):
    [row] = run.per_query.filter(question_id=question, stage="answer").to_dicts()
    return row


def test_verdicts_are_metrics_of_an_answer(tmp_path):
    run = scored(written(tmp_path, {}), tmp_path)
    assert {name: values(run)[name] for name in CLAIMED} == pytest.approx(CLAIMED)
    [judged] = run.judgements.to_dicts()
    assert [(c["text"], c["support"], c["reference"], c["chunks"]) for c in judged["claims"]] == [
        ("Leave is 25 days", "supported", "supported", ["a"]),
        ("Leave is paid out", "supported", "not_in_reference", ["b"]),
        ("It is in May", "contradicted", "contradicted", []),
        ("It comes by post", "not_in_context", "not_in_reference", []),
    ]
    assert [(c["answer"], c["context"], c["chunks"]) for c in judged["reference_claims"]] == [
        ("supported", "supported", ["a"]), ("not_in_answer", "not_in_context", []),
    ]  # fmt: skip
    absent = {"answer_correctness", "citation_correctness", "context_relevance"}
    assert not absent & set(run.per_query.columns), "RAGChecker says nothing of them"
    assert run.damage() == []


def test_whose_verdicts_they_are_is_recorded_and_shown(tmp_path):
    run = scored(written(tmp_path, {}), tmp_path)
    judge = run.manifest["judge"]
    assert (judge["model"], judge["origin"]) == ("RAGChecker's checker", "the trace")
    assert judge["tasks"] == ["claims", "support", "reference"]
    assert run.manifest["models"]["judge"].startswith("RAGChecker's checker, not calibrated")
    done = CliRunner().invoke(app, ["show", run.path])
    assert "faithfulness *" in done.stdout
    assert "RAGChecker's checker: its verdicts came with the trace" in done.stdout
    assert "support: no language stated: not calibrated" in done.stdout


def test_the_page_says_whose_they_are_and_what_they_are_not(tmp_path):
    told = standing(scored(written(tmp_path, {}), tmp_path))
    assert (told["model"], told["origin"]) == ("RAGChecker's checker", "the trace")
    assert told["records"] == []
    support = told["tasks"]["support"]["languages"]
    assert [one["calibrated"] for one in support] == [False]


def test_verdicts_follow_a_question_that_is_joined_by_its_text(tmp_path):
    path = written(tmp_path, {"query_id": made_question_id(RESULT["query"])})
    golden = {"question_id": "mine", "question": RESULT["query"], "reference_answer": "25 days.",
              "labels": "none"}  # fmt: skip
    (tmp_path / "golden.jsonl").write_text(json.dumps(golden) + "\n")
    options = ScoreOptions(format="ragchecker", runs=str(tmp_path / "runs"))
    run = score(str(tmp_path / "golden.jsonl"), [path], options)
    assert values(run, "mine")["faithfulness"] == 0.5


def test_no_gate_trusts_them(tmp_path):
    run = scored(written(tmp_path, {}), tmp_path)
    (tmp_path / "gates.yaml").write_text("gates: [{metric: faithfulness, stage: answer, min: 0.1}]")
    command = ["gate", run.path, "--gates", str(tmp_path / "gates.yaml")]
    done = CliRunner().invoke(app, [*command, "--runs", str(tmp_path / "runs")])
    assert done.output.startswith("INCONCLUSIVE")
    assert "RAGChecker's checker came with the trace" in " ".join(done.output.split())


def test_no_record_is_bound_to_them(tmp_path):
    run = scored(written(tmp_path, {}), tmp_path)
    sheet = str(tmp_path / "sheet.csv")
    asked = ["judge", "sample", run.path, "--task", "support", "--n", "4", "--out", sheet]
    assert CliRunner().invoke(app, asked).exit_code == 0
    pl.read_csv(sheet).with_columns(label=pl.lit("supported")).write_csv(sheet)
    command = ["judge", "calibrate", "--human", sheet, "--run", run.path, "--task", "support"]
    refused = CliRunner().invoke(app, [*command, "--record", str(tmp_path / "r.json")])
    assert isinstance(refused.exception, ConfigError)
    assert "no record can be bound" in str(refused.exception)
    assert not (tmp_path / "r.json").exists()
    assert "agreement" in CliRunner().invoke(app, command).output


def test_two_files_may_have_two_judges(tmp_path):
    runs = str(tmp_path / "runs")
    one = scored(written(tmp_path, {}), tmp_path)
    other = score(
        written(tmp_path, {}),
        [written(tmp_path, {"response": "Other."}, name="other.json")],
        ScoreOptions(format="ragchecker", runs=runs),
    )
    with pytest.raises(PairingError, match="judge may be another"):
        rayeval.compare(other.path, one.path, runs=runs)
    rayeval.compare(other.path, one.path, runs=runs, allow=["judge"])
    rayeval.compare(one.path, one.path, runs=runs)


def test_a_judge_of_your_own_leaves_them_out(tmp_path):
    path = written(tmp_path, {})
    with serving(rule) as server:
        part = {"kind": "openai", "url": server.url, "model": "scripted-judge", "retries": 0}
        (tmp_path / "judge.yaml").write_text(yaml.safe_dump({"judge": part}))
        run = scored(path, tmp_path, judge=str(tmp_path / "judge.yaml"))
    assert run.manifest["judge"]["model"] == "scripted-judge"
    assert "origin" not in run.manifest["judge"]
    [row] = run.judgements.to_dicts()
    assert "Leave is paid out" not in [claim["text"] for claim in row["claims"]]
    assert any("left out: --judge" in line for line in run.manifest["warnings"])


def test_the_numbers_are_ragchecker_s_own(tmp_path):
    path = PRODUCED / "ragchecker.checked.json"
    run = scored(str(path), tmp_path)
    undefined = {
        "c8": {"claim_precision", "claim_f1", "faithfulness", "hallucination", "self_knowledge",
               "noise_relevant", "noise_irrelevant"},
        "c9": {"claim_recall", "claim_f1", "context_claim_recall"},
    }  # fmt: skip
    checked = 0
    for result in json.loads(path.read_text())["results"]:
        name, ours = result["query_id"], values(run, result["query_id"])
        supported = any(YES in verdicts for verdicts in result["retrieved2answer"])
        for theirs, metric in THEIRS.items():
            no_claims = metric in undefined.get(name, ())
            if no_claims or (metric == "context_utilization" and not supported):
                assert math.isnan(ours[metric]), (name, metric)
                assert result["metrics"][theirs] == 0, "where RAGChecker has 0"
            elif (name, metric) in {("c10", "hallucination"), ("c10", "self_knowledge")}:
                assert result["metrics"][theirs] == 0, "RAGChecker's of what had no passages"
            elif (name, metric) == ("c9", "noise_irrelevant"):
                assert ours[metric] == ours["noise"], "no passage is relevant"
            else:
                assert ours[metric] == pytest.approx(result["metrics"][theirs]), (name, metric)
                checked += 1
    assert checked > 80


def test_what_a_row_lacks_is_its_error_and_no_zero(tmp_path):
    lacking = {"query_id": "q2", "answer2response": None, "response_claims": None,
               "retrieved2response": None}  # fmt: skip
    run = scored(written(tmp_path, {}, lacking), tmp_path)
    row = values(run, "q2")
    assert math.isnan(row["faithfulness"])
    assert {"faithfulness", "claim_precision"} <= set(row["unjudged"])
    assert row["claim_recall"] == 0.5, "of which the row has all"
    totals = run.aggregate.filter(stage="answer", metric="faithfulness").to_dicts()[0]
    assert (totals["mean"], totals["n"], totals["n_error"]) == (0.5, 1, 1)
    [judged] = run.judgements.filter(question_id="q2").to_dicts()
    bad = {one["task"]: one["reason"] for one in judged["outcomes"] if one["outcome"] != "ok"}
    assert set(bad) == {"claims", "reference", "support"}
    assert bad["support"].startswith("`results[1].retrieved2response` is null")


def test_what_no_row_has_is_undefined(tmp_path):
    lacking = {"response2answer": None, "retrieved2answer": None, "gt_answer_claims": None}
    run = scored(written(tmp_path, lacking), tmp_path)
    row = values(run)
    assert (row["faithfulness"], row["unjudged"]) == (0.5, [])
    assert math.isnan(row["claim_recall"])
    assert math.isnan(row["context_claim_recall"])


def test_a_file_without_verdicts_has_no_judge(tmp_path):
    names = ("answer2response", "retrieved2response", "response2answer", "retrieved2answer")
    run = scored(written(tmp_path, dict.fromkeys(names)), tmp_path)
    assert run.manifest["judge"] is None
    assert "faithfulness" not in run.per_query.columns


@pytest.mark.parametrize(
    ("change", "message"),
    [
        pytest.param({"answer2response": [YES]}, r"results\[0\].answer2response` has 1 verdict.*4",
                     id="too few"),
        pytest.param({"response_claims": None}, r"answer2response` has 4 verdicts.*null",
                     id="no claims"),
        pytest.param({"response2answer": [YES, "entailment"]},
                     r"response2answer\[1\]` is 'entailment', expected Entailment", id="unknown"),
        pytest.param({"response2answer": [YES, None]}, r"response2answer\[1\]` is 'None'",
                     id="a verdict is missing"),
        pytest.param({"retrieved2answer": [[YES, NO, NO], [NO]]},
                     r"retrieved2answer\[1\]` has 1 verdict.*3 passages", id="too few passages"),
        pytest.param({"retrieved2answer": [YES, NO]}, r"retrieved2answer\[0\]` is 'Entailment'",
                     id="no list of passages"),
        pytest.param({"answer2response": "Entailment"}, r"answer2response` is .*a list",
                     id="no list"),
        pytest.param({"response_claims": [1, 2, 3, 4]}, r"response_claims\[0\]` is 1",
                     id="no claim"),
    ],
)  # fmt: skip
def test_what_is_no_list_of_verdicts_is_named(tmp_path, change, message):
    path = written(tmp_path, change)
    with pytest.raises(DataError, match=message) as caught:
        scored(path, tmp_path)
    [problem] = caught.value.problems
    assert (problem.question_id, problem.file) == ("q1", path)
    assert not list((tmp_path / "runs").glob("2*")), "nothing half-written"


def test_import_leaves_verdicts_and_says_so(tmp_path):
    path = written(tmp_path, {"answer2response": [YES]})  # which is no fault of an import
    done = CliRunner().invoke(app, ["golden", "import", "ragchecker", path, "--out",
                                    str(tmp_path / "mine")])  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "only `score --format ragchecker` takes them" in " ".join(done.output.split())
    [row] = (tmp_path / "mine" / "trace.jsonl").read_text().splitlines()
    assert "claims" not in row


def test_passages_that_say_the_same_are_one_hit(tmp_path):
    same = [{"doc_id": None, "text": "Leave: 25 days."}] * 2 + [{"doc_id": None, "text": "x"}]
    change = {"retrieved_context": same, "retrieved2response": [[YES, YES, NO]] + [[NO] * 3] * 3}
    run = scored(written(tmp_path, change), tmp_path)
    [judged] = run.judgements.to_dicts()
    assert len(judged["claims"][0]["chunks"]) == 1
    assert judged["claims"][0]["chunks"][0] in run.passages["chunk_id"]
