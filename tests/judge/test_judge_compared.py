"""Two runs with answers, side by side."""

import answer_runs
import judge_runs
import pytest
from answer_runs import told
from faulty import serving

import rayeval
from rayeval.report.overview import deciding_stage, worth_showing


@pytest.fixture
def pair(tmp_path):
    """The second refuses what the first answers."""
    said = [
        judge_runs.rule,
        lambda body: judge_runs.rule(body) if judge_runs.judging(body) else told(True),
    ]
    found = []
    for number, script in enumerate(said):
        with serving(script) as server:
            folder = tmp_path / str(number)
            folder.mkdir()
            path = judge_runs.project(folder, server.url, answer={"bracket": ["gold_context"]})
            found.append(answer_runs.run(path, "answer.revision=1"))
    return found


def test_answers_are_compared_and_brackets_decide_nothing(pair):
    base, new = pair
    found = rayeval.compare(new, base)
    changed = {
        (row["stage"], row["metric"]): row["mean"]
        for row in found.deltas.filter(found.deltas["slice"].is_null()).iter_rows(named=True)
    }
    assert changed["answer", "false_refusal"] == 1
    text = str(found)
    assert "answer_correctness" in text
    assert "By slice, at gold_context" not in text
    assert found.transitions["after"].unique().to_list() == ["GENERATION_FALSE_ABSTENTION"]


def test_what_decides_is_the_last_stage_with_hits():
    assert deciding_stage(["bm25", "context", "answer", "closed_book", "gold_context"]) == "context"
    assert deciding_stage(["answer", "closed_book"]) == "answer"


def test_answers_have_metrics_of_their_own_beside_those_of_hits():
    shown = worth_showing(["hit@1", "recall@5", "token_f1", "faithfulness", "abstained"])
    assert shown == ("hit@1", "recall@5", "faithfulness")
