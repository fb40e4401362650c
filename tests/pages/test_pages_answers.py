"""What a page holds of answers, without a browser."""

import math
from pathlib import Path

import polars as pl
import pytest
from answered_tables import RECORD, answered_tables
from test_pages_content import data_of

from rayeval.report import limits
from rayeval.report.page import replies
from rayeval.report.page.answer_means import answer_means
from rayeval.report.page.outcomes import answer_moves, outcomes
from rayeval.report.page.run import run_page

pytestmark = pytest.mark.slow  # two whole judged runs


def page_of(run):
    return data_of(run_page(run))


def test_every_question_has_its_outcome(answered):
    base, new, _ = answered
    assert dict(outcomes(base).iter_rows()) == {
        "leave": "right", "it": "right", "vpn": "right", "desk": "refused", "badge": "wrong",
        "train": "mixed", "hostile": "wrong", "broken": "error", "moon": "rightly refused",
        "mars": "answered anyway",
    }  # fmt: skip
    went = answer_moves(base, new)
    assert went["question_id"][0] == "leave", "the worst first"
    assert dict(went.filter(pl.col("went") != "same").iter_rows()) == {
        "leave": "worse", "desk": "better", "mars": "better", "broken": "can't be told",
    }  # fmt: skip


def test_means_are_the_run_s_own_and_lie_in_their_intervals(answered):
    base = answered[0]
    found = pl.DataFrame(answer_means(base), infer_schema_length=None)
    own = base.aggregate.filter(pl.col("stage") == "answer", pl.col("n") > 0)
    means = dict(own.select("metric", "mean").iter_rows())
    here = found.filter(pl.col("slice").is_null(), pl.col("stage") == "answer")
    assert {row["metric"]: row["mean"] for row in here.iter_rows(named=True)} == means
    for row in here.drop_nulls("low").iter_rows(named=True):
        assert math.isnan(row["low"]) or row["low"] <= row["mean"] <= row["high"], row
    assert here.filter(metric="faithfulness")["errors"].to_list() == [2]
    office = found.filter(slice="office", metric="answer_correctness").to_dicts()
    assert [(row["mean"], row["n"]) for row in office] == [(0.5, 3)]


@pytest.mark.parametrize("many", [1_000, 10], ids=["drawn", "by the standard error"])
def test_intervals_are_those_of_the_questions_that_the_mean_is_of(monkeypatch, many):
    monkeypatch.setattr(limits, "MANY", many)
    run = answered_tables(400)
    found = pl.DataFrame(answer_means(run)).filter(pl.col("slice").is_null())
    [row] = found.to_dicts()
    spread = 1.96 * math.sqrt(0.8 * 0.2 / 50) / 4  # 50 clusters of 8, one value in each
    assert row["mean"] == pytest.approx(0.8)
    assert row["low"] == pytest.approx(0.8 - 4 * spread, abs=0.03)
    assert row["high"] == pytest.approx(0.8 + 4 * spread, abs=0.03)


def test_a_page_of_a_run_without_answers_says_nothing_of_them(hostile):
    from rayeval.execution.runs import Run

    data = page_of(Run(str(hostile[1] / hostile[0].facts["new"])))
    assert data["sides"][0]["answers"] is None
    assert {tuple(one["replies"]) for one in data["sides"][0]["details"].values()} == {()}


def test_answers_are_packed_with_what_they_rest_on(answered):
    found = page_of(answered[0])["sides"][0]["details"]
    [own, book, gold] = found["vpn"]["replies"]
    assert [block["variant"] for block in (own, book, gold)] == ["answer", "closed_book", "gold_context"]  # fmt: skip
    assert own["tries"][0]["cites"] == [["E1", 1], ["E9", None]]
    assert [claim[1:4] for claim in own["tries"][0]["judged"]["claims"]] == [
        ["supported", [1], "supported"], ["not_in_context", [], "not_in_reference"],
    ]  # fmt: skip
    assert gold["handed"] == {"1": "e1"}
    assert found["vpn"]["timed"][1] == "batched"
    assert found["broken"]["replies"][0]["tries"][0]["error"].startswith("failed: ")
    bad = found["badge"]["replies"][0]["tries"][0]["judged"]["bad"]
    assert [entry[:2] for entry in bad] == [["support", "wrong_count"]]


def test_ten_thousand_answers_are_small_and_the_page_says_what_is_left_out(monkeypatch):
    html = run_page(answered_tables(10_000, repeats=2))
    data = data_of(html)
    assert len(html) < 6_000_000
    assert len(data["sides"][0]["details"]) == 500
    assert len(data["sides"][0]["outcome"]["codes"]) == 10_000
    monkeypatch.setattr(replies, "TRIES", 60)
    few = data_of(run_page(answered_tables(60, repeats=4, chars=9_000)))["sides"][0]["details"]
    [block] = few["q-00000"]["replies"]
    assert (len(block["tries"]), block["more"]) == (1, 3)
    assert (len(block["tries"][0]["text"]), block["tries"][0]["cut"]) == (4_000, 5_000)
    assert (len(block["handed"]), block["size"]) == (10, 12)


def test_questions_whose_answer_is_bad_have_a_page_though_their_gold_arrived():
    run = answered_tables(3_000)
    run.failures = run.failures.with_columns(status=pl.lit("success"), code=pl.lit(None, pl.String))
    details = data_of(run_page(run))["sides"][0]["details"]
    assert sorted(details)[:3] == ["q-00000", "q-00005", "q-00010"]


@pytest.mark.parametrize(
    ("change", "ours"),
    [({}, True), ({"model": "other"}, False), ({"prompt": "cd" * 16}, False)],
    ids=["this judge", "another model", "another prompt"],
)
def test_a_calibration_is_of_exactly_one_judge(change, ours):
    run = answered_tables(10)
    run.manifest["calibration"] = [{**RECORD, "judge": RECORD["judge"] | change}]
    [record] = page_of(run)["sides"][0]["answers"]["judge"]["records"]
    assert (record["ours"], record["reached"], record["limits"]) == (ours, 0.74, [0.62, 0.83])


def test_a_comparison_holds_deltas_of_answers_and_who_got_worse(answered):
    data = data_of(Path(answered[2].path, "report.html").read_bytes())
    whole = [
        (metric, mean)
        for metric, stage, slice_, mean in zip(
            *(data["deltas"][name] for name in ("metric", "stage", "slice", "mean")), strict=True
        )
        if slice_ is None and stage == "answer"
    ]
    assert {"faithfulness", "hallucination", "citation_validity"} <= {metric for metric, _ in whole}
    assert dict(whole)["right_refusal"] == 0.5
    assert data["went"]["worse"] == ["leave"]
    assert sorted(data["went"]["better"]) == ["desk", "mars"]
