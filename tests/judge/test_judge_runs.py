"""Judged runs: their tables, what is asked again, and what a kill costs."""

from answer_runs import run
from faulty import serving
from judge_runs import project, rule


def test_a_run_has_what_its_judge_said(tmp_path):
    with serving(rule) as server:
        found = run(
            project(tmp_path, server.url, answer={"bracket": ["closed_book", "gold_context"]})
        )
    rows = found.judgements
    assert rows.select("question_id", "variant").unique().height == rows.height == 12
    assert set(rows["error"]) == {None}
    leave = rows.filter(question_id="q-leave", variant="answer").to_dicts()[0]
    assert leave["claims"][0]["support"] == "supported"
    assert leave["correctness"] == "correct"
    moon = rows.filter(question_id="q-moon", variant="answer").to_dicts()[0]
    assert (moon["claims"], moon["correctness"]) == (None, None)
    assert len(moon["relevance"]) == 2
    gold = rows.filter(question_id="q-it", variant="gold_context").to_dicts()[0]
    assert [one["context"] for one in gold["reference_claims"]] == ["supported"]
