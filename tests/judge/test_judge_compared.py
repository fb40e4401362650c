"""Two runs with answers, side by side."""

import answer_runs
import judge_runs
import polars as pl
import pytest
from answer_runs import told
from faulty import serving

import rayeval
from rayeval.execution.decide.comparison import Options, compare_runs
from rayeval.metrics.names import measures
from rayeval.report.answered import MARKED
from rayeval.report.favoured import deciding_stage, worth_showing
from rayeval.report.spent import _outcomes

pytestmark = pytest.mark.slow  # whole judged runs

PRICES = [{"input_per_million": n, "output_per_million": n} for n in (100, 200)]


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """The second refuses what the first answers."""
    tmp_path = tmp_path_factory.mktemp("compared")
    said = [
        judge_runs.rule,
        lambda body: judge_runs.rule(body) if judge_runs.judging(body) else told(True),
    ]
    found = []
    for number, script in enumerate(said):
        with serving(script) as server:
            folder = tmp_path / str(number)
            folder.mkdir()
            path = judge_runs.project(
                folder, server.url, answer={"bracket": ["gold_context"], "prices": PRICES[number]}
            )
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


def test_what_is_the_same_is_a_line_and_what_it_took_stands_beside_quality(pair):
    base, new = pair
    text = str(rayeval.compare(new, base))
    assert "Every metric is the same for every question at bm25, context." in text
    assert "No gold moved at bm25, context." in text
    lines = [line.split() for line in text.splitlines()]
    assert not any(line[:1] == ["context"] for line in lines)
    [took] = [line for line in lines if line[:2] == ["answer", "4"]]
    costs = [run.answers.filter(variant="answer")["cost_usd"].sum() for run in pair]
    assert [f"${cost:,.4f}" for cost in costs] == [took[-4], took[-2]]
    assert took[-1] == "(+100%)"


def test_the_headline_is_first_in_text_and_json(pair):
    base, new = pair
    found = rayeval.compare(new, base)
    stated = found.summary()
    assert list(stated)[:2] == ["sentence", "note"]
    assert stated["sentence"].startswith("Hold: all questions lost 3 of 3, all at answer")
    assert str(found).startswith(stated["sentence"])
    assert (
        "is the same for every question, so answer_correctness at answer decides" in stated["note"]
    )
    answers = {stage: took["cost_usd"] for stage, took in stated["spent"]["base"].items()}
    assert answers["answer"] == pytest.approx(
        base.answers.filter(variant="answer")["cost_usd"].sum()
    )


def test_metrics_of_a_judge_that_nobody_calibrated_are_marked(pair, tmp_path):
    base, new = pair
    found = rayeval.compare(new, base)
    text = " ".join(str(found).split())
    assert "answer_correctness *" in text
    assert "contains_reference *" not in text
    assert f"{MARKED}: the judge is not calibrated for" in text
    assert (
        "The judge of answer_correctness is not calibrated for a gate." in found.summary()["note"]
    )
    record = judge_runs.recorded(tmp_path / "record.json", new, task="correctness",
                      prompt=new.manifest["judge"]["prompts"]["correctness"]["hash"])  # fmt: skip
    found = compare_runs(base, new, Options(replicates=100, calibration=[str(record)]))
    assert "answer_correctness" not in found.facts["uncalibrated"]
    assert "faithfulness" in found.facts["uncalibrated"]


def test_a_run_judged_before_replies_told_what_they_took_is_read(pair):
    judgements = pair[0].judgements
    told = pl.col("outcomes").list.eval(
        pl.struct(pl.element().struct.field("task", "outcome", "reason", "request"))
    )
    assert _outcomes(judgements.with_columns(told))["cost_usd"].null_count() > 0
    assert _outcomes(judgements)["prompt_tokens"].null_count() == 0


def test_what_decides_is_the_last_stage_with_hits():
    assert deciding_stage(["bm25", "context", "answer", "closed_book", "gold_context"]) == "context"
    assert deciding_stage(["answer", "closed_book"]) == "answer"


def test_answers_have_metrics_of_their_own_beside_those_of_hits():
    shown = worth_showing(["hit@1", "recall@5", "token_f1", "faithfulness", "abstained"])
    assert shown == ("hit@1", "recall@5", "faithfulness")


@pytest.mark.parametrize(
    ("cutoffs", "shown"),
    [
        pytest.param([1, 2, 5], "hit@1 recall@5 all_groups@5 ndcg@5 mrr@5 judged@5", id="few"),
        pytest.param([3], "hit@3 recall@3 all_groups@3 ndcg@3 mrr@3 judged@3", id="one"),
        pytest.param([20, 50], "hit@20 recall@50 all_groups@50 ndcg@50 mrr@50 judged@50", id="large"),
        pytest.param([1, 5, 10, 20], "hit@1 recall@5 recall@10 all_groups@5 ndcg@10 mrr@10", id="default"),
        pytest.param(["400tok", 2], "hit@2 recall@2 all_groups@2 ndcg@2 mrr@2 judged@2", id="tokens last"),
        pytest.param(["400tok", "90tok"], "hit@90tok recall@400tok all_groups@400tok ndcg@400tok mrr@400tok judged@400tok", id="tokens alone"),
    ],
)  # fmt: skip
def test_metrics_worth_showing_are_there_at_any_cutoffs(cutoffs, shown):
    names = [measure.name for measure in measures(None, cutoffs)]
    assert list(worth_showing(names)[:6]) == shown.split()


def test_metrics_that_were_asked_for_by_name_are_all_shown():
    assert worth_showing(["nDCG@10", "P@5", "recall@3"]) == ("recall@3", "nDCG@10", "P@5")
