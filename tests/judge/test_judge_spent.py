"""What answers and verdicts took, and what a judge's budget buys before it ends."""

import json

import polars as pl
import pytest
from answer_runs import run
from faulty import serving
from judge_runs import judging, project, rule

from rayeval.report.spent import spent
from rayeval.report.terminal import run_text

pytestmark = pytest.mark.slow  # whole judged runs

PRICES = {"prices": {"input_per_million": 100, "output_per_million": 1000}}
READ, WRITTEN = 100, 20
"""Tokens of every reply of the scripted endpoint."""
USD = (READ * 100 + WRITTEN * 1000) / 1e6
BRACKETS = {"bracket": ["closed_book", "gold_context"], "repeats": 2}


def test_every_reply_that_was_used_is_in_the_sums_once(tmp_path):
    with serving(rule) as server:
        path = project(tmp_path, server.url, {**PRICES, "twice": {"sample": 2}},
                       answer={**BRACKETS, **PRICES}, latency={"sample": 0})  # fmt: skip
        found = run(path)
        asked = sum(map(judging, server.seen))
        rest = len(server.seen) - asked
    took = spent(found)
    assert list(took) == ["answer", "closed_book", "gold_context", "judge", "judge again"]
    of_judge = took["judge"]["requests"] + took["judge again"]["requests"]
    assert (of_judge, sum(took[n]["requests"] for n in list(took)[:3])) == (asked, rest)
    for one in took.values():
        assert one["prompt_tokens"] == READ * one["requests"]
        assert one["completion_tokens"] == WRITTEN * one["requests"]
        assert abs(one["cost_usd"] - USD * one["requests"]) < 1e-9
    assert json.loads(json.dumps(found.summary()))["spent"] == took
    text = run_text(found)
    assert "What it took" in text
    assert f"${USD * (asked + rest):,.4f} in all" in text


def test_without_prices_tokens_are_told_and_no_cost(tmp_path):
    with serving(rule) as server:
        found = run(project(tmp_path, server.url))
    assert spent(found)["judge"]["cost_usd"] is None
    assert "no prices" in run_text(found)


def test_counts_behind_means_are_told_by_stage_where_they_differ(tmp_path):
    with serving(rule) as server:
        found = run(project(tmp_path, server.url, answer=BRACKETS))
    counts = dict(found.aggregate.filter(metric="claim_precision").select("stage", "n").iter_rows())
    assert counts["closed_book"] != counts["answer"]
    [line] = [one for one in run_text(found).splitlines() if one.startswith("claim_precision")]
    told = [counts[stage] for stage in ("answer", "closed_book", "gold_context")]
    assert " · ".join(map(str, told)) in line


def test_a_budget_of_the_judge_buys_whole_judgements_of_the_first_answers(tmp_path):
    """Breadth first it would buy claims of all answers, and verdicts on none."""
    for name in ("whole", "half"):
        (tmp_path / name).mkdir()
    with serving(rule) as server:
        whole = run(project(tmp_path / "whole", server.url, answer=BRACKETS))
        asked = spent(whole)["judge"]["requests"]
        limits = {"budget": {"max_tokens": asked * (READ + WRITTEN) // 2},
                  "concurrency": 1, "max_completion_tokens": 50}  # fmt: skip
        half = run(project(tmp_path / "half", server.url, limits, answer=BRACKETS))
    outcomes = half.judgements.select("variant", pl.col("outcomes").list.eval(
        pl.element().struct["outcome"]))  # fmt: skip
    whole_ones = outcomes.filter(~pl.col("outcomes").list.contains("budget"),
                                 pl.col("outcomes").list.len() > 5)  # fmt: skip
    assert whole_ones.height > 0, "some answers have every verdict"
    assert set(whole_ones["variant"]) == {"answer"}, "brackets come last"
    assert outcomes["outcomes"].explode().value_counts().filter(outcomes="budget").height == 1
    assert "error" in half.failures["status"].to_list(), "what nobody judged is no success"
