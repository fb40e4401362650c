"""What answers in a trace are worth: tables, show, and the JSON of a score."""

import json
import math
from pathlib import Path

import polars as pl
import pytest
from score_files import write_lines
from typer.testing import CliRunner

import rayeval
from rayeval.cli.main import app
from rayeval.report.answered import rates
from rayeval.report.overview import overview
from rayeval.report.terminal import run_text

GOLD = {"evidence": [{"evidence_id": "e", "source_id": "d"}]}


def question(name, *, answerable=True, **fields):
    row = {"question_id": name, "question": f"{name}?", "answerable": answerable, **fields}
    return row | (GOLD if answerable else {})


def said(name, answer, *, hits=("d",), **fields):
    found = [{"source_id": hit, "score": 9.0 - place} for place, hit in enumerate(hits)]
    return {"question_id": name, "context": found, "answer": answer, **fields}


@pytest.fixture
def run(scored):
    golden = [
        question("right", reference_answer="서울", language="ko", split="dev"),
        question("wrong", reference_answer="Busan", split="test"),
        question("refused", reference_answer="Busan", split="test"),
        question("lost", reference_answer="Busan", split="test"),
        question("none", answerable=False, split="dev"),
        question("made up", answerable=False, split="test"),
    ]
    trace = [
        said("right", "수도는 서울입니다 [E1].", citations=["E1"]),
        said("wrong", "It is Seoul [E7].", citations=["E7"]),
        said("refused", "I don't know."),
        said("lost", "I don't know.", hits=("x",)),
        said("none", "모르겠습니다.", hits=("x",)),
        said("made up", "Seoul.", hits=("x", "y")),
    ]
    return scored(golden, trace)


def test_numbers_of_answers_are_among_the_run_s(run):
    rows = {r["question_id"]: r for r in run.per_query.filter(stage="answer").to_dicts()}
    assert rows["right"]["contains_reference"] == 1
    assert rows["right"]["citation_recall"] == 1
    assert rows["wrong"]["citation_validity"] == 0
    assert rows["refused"]["false_refusal"] == 1
    assert math.isnan(rows["none"]["contains_reference"])
    means = dict(run.aggregate.filter(stage="answer").select("metric", "mean").iter_rows())
    assert (means["right_refusal"], means["false_refusal"], means["abstained"]) == (0.5, 0.5, 0.5)
    assert means["unsupported_answer"] == 1 / 3
    assert "unjudged" not in run.per_query.columns


def test_where_questions_fail_at_the_answer(run):
    ends = {r["question_id"]: (r["code"], r["stage"]) for r in run.failures.to_dicts()}
    assert ends == {
        "right": (None, None),
        "wrong": ("CITATION_INVALID", "answer"),
        "refused": ("GENERATION_FALSE_ABSTENTION", "answer"),
        "lost": ("RETRIEVAL_MISSED_GOLD", "context"),
    }
    assert run.summary()["status"] == {"success": 1, "failed": 3, "error": 0, "missing": 0}
    assert dict(overview(run).bounds)["answer"] == 1


def test_refusals_are_counted_by_what_the_context_held(run):
    whole = run.abstention.filter(pl.col("slice").is_null())
    counts = {tuple(row[:-1]): row[-1] for row in whole.drop("slice", "stage").rows()}
    assert counts == {
        (True, "all", False, "right"): 1,
        (True, "all", False, "wrong"): 1,
        (True, "all", True, None): 1,
        (True, "none", True, None): 1,
        (False, "none", True, None): 1,
        (False, "none", False, None): 1,
    }
    found = rates(run.abstention, "answer")
    assert (found["precision"], found["accuracy"]) == (1 / 3, 0.5)
    assert rates(run.abstention, "answer", "language:ko")["answerable"] == 1
    assert math.isnan(rates(run.abstention, "answer", "no such slice")["accuracy"])


def test_the_best_scores_are_held_against_each_other(run):
    [row] = run.thresholds.filter(
        pl.col("slice").is_null(), pl.col("stage") == "context"
    ).to_dicts()
    assert (row["auroc"], row["n_dev"], row["n_test"]) == (0.5, 2, 4)
    assert math.isnan(row["threshold"]), "two questions choose none"
    assert math.isnan(row["right_refusal"])
    assert set(run.risk_coverage["stage"]) == {"context", "answer"}


def test_a_run_shows_its_answers(run):
    text = run_text(run)
    assert "answer: refused 1 of 2 answers to unanswerable questions (right, 50%)" in text
    assert "precision of refusals 33%" in text
    assert "A threshold needs 20 answerable and 20 unanswerable questions of split dev" in text
    assert "GENERATION_FALSE_ABSTENTION" in text
    assert max(map(len, text.splitlines())) <= 100
    summary = run.summary()
    assert summary["refusals"]["answer"]["false_refusals"] == 2
    assert summary["brackets"] == {}
    text = Path(f"{run.path}/summary.md").read_text()
    assert "Answers by what their context held" in text
    assert run.damage() == []


def test_the_json_of_a_run_without_refusals_is_json(scored):
    run = scored([question("a")], [said("a", "Seoul.")])
    found = json.loads(CliRunner().invoke(app, ["show", run.path, "--json"]).stdout)
    assert found["refusals"]["answer"]["precision"] is None


def test_a_trace_without_answers_has_none_of_it(scored):
    run = scored([question("a")], [{"question_id": "a", "context": [{"source_id": "d"}]}])
    assert run.abstention.height == run.per_answer.height == run.spread.height == 0
    assert "refusals" not in run.summary()
    assert "abstained" not in run.per_query.columns
    assert not any(table.title.startswith("Answers") for table in overview(run).answers)


def test_repeats_have_a_spread(scored):
    golden = [question("a", reference_answer="x"), question("b", reference_answer="x")]
    trace = [said("a", "x"), said("a", "y", repeat=1), said("b", "x"), said("b", "x", repeat=1)]
    run = scored(golden, trace)
    [row] = run.spread.filter(metric="exact_match").to_dicts()
    assert (row["mean"], row["repeated"], row["within"]) == (0.75, 2, 0.5)
    assert "Spread over repeats" in run_text(run)
    assert run.per_answer.select("question_id", "repeat", "right").rows() == [
        ("a", 0, "right"), ("a", 1, "wrong"), ("b", 0, "right"), ("b", 1, "right"),
    ]  # fmt: skip


def test_only_the_metrics_that_were_asked_for(scored):
    run = scored([question("a", reference_answer="x")], [said("a", "x")], metrics=["token_f1"])
    assert set(run.aggregate["metric"]) == {"token_f1"}
    assert run.abstention["right"].to_list()[0] == "right"
    run_text(run)


def parquet(folder, trace):
    flat = [
        {"question_id": row["question_id"], "stage": "context", "hits": row["context"]}
        | {name: row[name] for name in ("answer", "abstained", "citations") if name in row}
        for row in trace
    ]
    pl.DataFrame(flat, infer_schema_length=None).write_parquet(folder / "trace.parquet")
    return folder / "trace.parquet"


def recorded(folder, trace):
    for row in trace:
        with rayeval.trace(row["question_id"], path=folder / "recorded.jsonl") as t:
            t.context(row["context"])
            given = {name: row[name] for name in ("abstained", "citations") if name in row}
            t.answer(row["answer"], **given)
    return folder / "recorded.jsonl"


FORMS = {
    "lines": lambda folder, trace: write_lines(folder / "t.jsonl", trace),
    "rows": lambda folder, trace: trace,
    "parquet": parquet,
    "recorded": recorded,
}


@pytest.mark.parametrize("form", FORMS)
def test_of_what_a_trace_does_not_say_nothing_is_claimed(tmp_path, form):
    """Neither that it cites nothing, nor that what reads like a refusal is none."""
    golden = [question("a"), question("b"), question("c", answerable=False)]
    trace = [said("a", "Seoul."), said("b", "I don't know."), said("c", "모르겠습니다.")]
    given = FORMS[form](tmp_path, trace)
    run = rayeval.score(golden, given, runs=tmp_path / "runs")
    answers = pl.read_parquet(f"{run.path}/answers.parquet").sort("question_id")
    assert answers["abstained"].to_list() == [False, True, True]
    assert answers["citations"][0] is None
    rows = {r["metric"]: r for r in run.aggregate.filter(stage="answer").to_dicts()}
    assert (rows["citation_recall"]["n"], rows["citation_recall"]["n_undefined"]) == (0, 3)
    assert rows["abstention_accuracy"]["mean"] == 2 / 3


@pytest.mark.parametrize("form", FORMS)
def test_what_a_trace_says_counts(tmp_path, form):
    golden = [question("a"), question("b")]
    told = {"abstained": False, "citations": []}
    trace = [said("a", "Seoul.", **told), said("b", "I don't know.", **told)]
    run = rayeval.score(golden, FORMS[form](tmp_path, trace), runs=tmp_path / "runs")
    means = dict(run.aggregate.filter(stage="answer").select("metric", "mean").iter_rows())
    assert (means["abstained"], means["citation_recall"]) == (0, 0)


def test_an_answer_without_marks_cites_nothing_where_others_have_some(scored):
    run = scored([question("a"), question("b")], [said("a", "x [E1]."), said("b", "y.")])
    rows = {r["question_id"]: r for r in run.per_query.filter(stage="answer").to_dicts()}
    assert (rows["a"]["citation_recall"], rows["b"]["citation_recall"]) == (1, 0)


def test_a_recorded_answer_of_nothing_is_an_error_and_not_missing(tmp_path):
    with rayeval.trace("a", path=tmp_path / "t.jsonl") as t:
        t.context([{"source_id": "d"}])
        t.answer(None)
    run = rayeval.score([question("a")], tmp_path / "t.jsonl", runs=tmp_path / "runs")
    assert run.per_query.filter(stage="answer")["status"].to_list() == ["error"]


@pytest.mark.parametrize("format_", ["ragas", "deepeval", "ragchecker"])
def test_other_tools_answers_claim_nothing_either(tmp_path, format_):
    row = {
        "ragas": {"user_input": "a?", "retrieved_contexts": ["d"], "response": "Seoul."},
        "deepeval": {"input": "a?", "retrieval_context": ["d"], "actual_output": "Seoul."},
        "ragchecker": {"results": [{"query_id": "a", "query": "a?", "gt_answer": "x",
                       "retrieved_context": [{"doc_id": "1", "text": "d"}],
                       "response": "Seoul."}]},
    }[format_]  # fmt: skip
    (tmp_path / "t.json").write_text(json.dumps(row if format_ == "ragchecker" else [row]))
    golden = [{"question_id": "a", "question": "a?", "evidence": [{"quote": "d"}]}]
    run = rayeval.score(golden, tmp_path / "t.json", runs=tmp_path / "runs", format=format_)
    [row] = pl.read_parquet(f"{run.path}/answers.parquet").to_dicts()
    assert (len(row["context"]), row["citations"], row["abstained"]) == (1, None, False)


EXPLAINED = "I don't know. The documents do not mention parking."


@pytest.mark.parametrize(
    ("options", "refused"), [({}, {"a", "c"}), ({"refusals": "explained"}, {"a", "b", "c"})]
)
def test_answers_that_begin_like_a_refusal_are_counted_and_named(scored, options, refused):
    golden = [question("a", answerable=False), question("b", answerable=False), question("c"),
              question("d"), question("e")]  # fmt: skip
    trace = [said("a", "I don't know."), said("b", EXPLAINED), said("c", "모르겠습니다."),
             said("d", "모르겠습니다. 다만 주차 요금은 5천원입니다."),
             said("e", EXPLAINED, abstained=False)]  # fmt: skip
    run = scored(golden, trace, **options)
    rows = run.per_query.filter(stage="answer", abstained=1.0)
    assert set(rows["question_id"]) == refused
    [warning] = [line for line in run.manifest["warnings"] if "begin" in line]
    if options:
        assert warning == (
            "1 of 5 answers begins like a refusal and counts as given (d): right refusals lie "
            "between 2 and 2 of 2, false refusals lie between 1 and 2 of 3"
        )
    else:
        assert warning == (
            "2 of 5 answers begin like a refusal and count as given (b, d): right refusals lie "
            "between 1 and 2 of 2, false refusals lie between 1 and 2 of 3; --refusals explained "
            "counts the 1 that say nothing but what is missing"
        )


def test_answers_that_say_what_they_are_are_not_doubted(scored):
    run = scored([question("a")], [said("a", EXPLAINED, abstained=False)])
    assert not any("begin" in line for line in run.manifest["warnings"])
