"""Runs with answers and a judge: their numbers, what brackets say, where questions fail."""

import json
import math
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from answer_runs import run
from faulty import serving
from judge_model import task_of
from judge_runs import judging, messages, project, rule

from rayeval.report import brackets as bracketed
from rayeval.report.brackets import Bought, brackets
from rayeval.report.overview import overview
from rayeval.report.slices import telling
from rayeval.report.terminal import run_text
from rayeval.stats.clusters import means
from rayeval.stats.intervals import intervals

pytestmark = pytest.mark.slow  # whole judged runs

BRACKETS = {"bracket": ["closed_book", "gold_context"], "repeats": 2}


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    with serving(rule) as server:
        return run(project(tmp_path_factory.mktemp("numbers"), server.url, answer=BRACKETS))


def mean(run, stage, metric):
    [row] = run.aggregate.filter(stage=stage, metric=metric).to_dicts()
    return row["mean"], row["n"], row["n_error"]


def test_every_variant_has_its_metrics(found):
    assert mean(found, "answer", "answer_correctness") == (1, 2, 0)
    assert mean(found, "answer", "faithfulness") == (1, 3, 0)
    assert mean(found, "closed_book", "abstained") == (1, 4, 0)
    assert mean(found, "closed_book", "answer_correctness") == (0, 2, 0)
    assert mean(found, "gold_context", "exact_match") == (1, 2, 0)
    stages = found.aggregate.filter(metric="faithfulness")["stage"].to_list()
    assert stages == ["answer", "gold_context"]
    assert found.per_query["unjudged"].list.len().sum() == 0


def test_claims_of_every_answer_keep_ragchecker_s_sums(found):
    rows = found.per_answer.filter(~pl.col("claim_precision").is_nan(), pl.col("stage") == "answer")
    assert rows.height == 4
    total = rows.select(pl.sum_horizontal("claim_precision", "hallucination", "noise"))
    assert total.to_series().to_list() == pytest.approx([1] * 4)


def test_brackets_are_means_over_the_same_questions(found):
    buys = brackets(found)
    assert list(buys) == ["answer-closed_book", "gold_context-answer"]
    assert buys["answer-closed_book"]["answer_correctness"] == Bought(0, 1, 1, 1, 1, 2)
    assert buys["gold_context-answer"]["exact_match"] == Bought(0, 1, 1, 1, 1, 2)
    text = run_text(found)
    assert "perfect retrieval would buy: exact_match" in text
    stated = json.loads(json.dumps(found.summary(), allow_nan=False))
    told = stated["brackets"]["gold_context-answer"]["exact_match"]
    assert told == {"mean": 1, "low": 1, "high": 1, "n": 2}
    assert all(name.isascii() for name in stated["brackets"])
    assert set(stated["refusals"]) == {"answer", "gold_context"}


def test_noise_between_brackets_is_seen_as_noise():
    """Limits are those of the differences, by cluster, of the questions that have both."""
    change = [0.5, -0.5, 0.25, -0.25, 0.0, 0.125] * 6
    asked = pl.DataFrame({"question_id": [f"q{n:02}" for n in range(36)]})
    asked = asked.with_columns(cluster=pl.col("question_id"), slices=pl.lit([], pl.List(pl.String)))
    rows = asked.select("question_id", stage=pl.lit("answer"), token_f1=pl.lit(0.5))
    more = rows.with_columns(stage=pl.lit("gold_context"), token_f1=0.5 + pl.Series(change))
    run_ = SimpleNamespace(
        manifest={"answers": ["answer", "gold_context"]},
        columns=lambda table: rows.columns,
        select=lambda table, columns, stage=None: (
            asked if table == "questions" else rows if stage == "answer" else more
        ).select(columns),
    )
    one = brackets(run_)["gold_context-answer"]["token_f1"]
    assert one.low < 0 < one.mean < one.high < 0.15
    sums = means(np.array(change)[:, None], np.arange(36))
    [limits] = intervals(sums, seed=42, possible=(-1, 1))
    assert (one.low, one.high) == (limits.low, limits.high)
    asked = asked.with_columns(cluster=pl.lit("one"))
    assert math.isnan(brackets(run_)["gold_context-answer"]["token_f1"].low)
    assert bracketed.brackets_json(run_)["gold_context-answer"]["token_f1"]["low"] is None


def test_the_walk_goes_on_to_the_answer(found):
    assert dict(overview(found).bounds)["answer"] == found.failures.height == 3
    assert set(found.failures["observed_stages"].list.last()) == {"answer"}
    text = run_text(found)
    assert "whose gold is all still there, and at answer those without a fault found" in text
    assert "at answer those without a fault found" in Path(found.path, "summary.md").read_text()


def test_a_slice_of_all_questions_says_nothing_of_its_own(found):
    """At stages with hits `answerable:true` holds every question with a figure; at answers not."""
    rows = telling(found)
    assert "answerable:true" in rows.filter(stage="answer")["slice"]
    assert "answerable:true" not in rows.filter(stage="context")["slice"]
    assert "language:ko" in rows.filter(stage="context")["slice"]
    assert "origin:unknown" not in rows["slice"]
    assert "origin:unknown" in found.slices["slice"]
    shown = run_text(found).partition("By slice")[2]
    assert "language:ko" in shown
    assert "origin:unknown" not in shown


def test_a_judge_that_fails_is_an_error_of_its_metrics_and_of_what_it_could_have_found(tmp_path):
    def broken(body):
        failing = judging(body) and task_of(messages(body)) == "support"
        return "no JSON" if failing else rule(body)

    with serving(broken) as server:
        run_ = run(project(tmp_path, server.url))
    faithfulness = mean(run_, "answer", "faithfulness")
    assert math.isnan(faithfulness[0])
    assert faithfulness[1:] == (0, 3)
    assert mean(run_, "answer", "answer_correctness") == (1, 2, 0)
    assert mean(run_, "answer", "claim_recall")[2] == 0
    [lists] = run_.per_query.filter(question_id="q-leave", stage="answer")["unjudged"].to_list()
    assert {"faithfulness", "noise", "context_utilization"} <= set(lists)
    ends = run_.failures.select("question_id", "status", "stage", "observed_stages").to_dicts()
    assert {(end["status"], end["stage"]) for end in ends} == {("error", "answer")}
    assert all(end["observed_stages"][-1] == "context" for end in ends)


def test_a_judge_that_says_incorrect_fails_the_question(tmp_path):
    def harsh(body):
        if judging(body) and task_of(messages(body)) == "correctness":
            return json.dumps({"verdict": "incorrect"})
        return rule(body)

    with serving(harsh) as server:
        run_ = run(project(tmp_path, server.url))
    ends = dict(run_.failures.select("question_id", "code").iter_rows())
    assert ends["q-leave"] == ends["q-it"] == "GENERATION_INCORRECT"
    assert set(run_.failures.filter(status="failed")["stage"]) == {"answer"}
    assert "2 of 3 questions fail at answer" in Path(f"{run_.path}/report.html").read_text()
