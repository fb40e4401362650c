"""What is said of a comparison first, and on which metric it rests."""

import math

import polars as pl
import pytest

from rayeval.comparison.deltas import SCHEMA, adjusted
from rayeval.report.grounds import grounds
from rayeval.report.headline import comparison_sentence
from rayeval.report.whole import whole_of


def ends(*rows):
    """rows: (question, slices, change, stage after)."""
    was = {"lost": "success", "won": "X", "same": "X"}
    moved = [(q, was[change], "success" if change == "won" else "Y" if change == "lost" else "X", None, stage)
             for q, _, change, stage in rows]  # fmt: skip
    names = ["question_id", "before", "after", "stage_before", "stage_after"]
    moved = pl.DataFrame(moved, schema=dict.fromkeys(names, pl.String), orient="row")
    slices = pl.DataFrame(
        {"question_id": [row[0] for row in rows], "slices": [row[1] for row in rows]},
        schema={"question_id": pl.String, "slices": pl.List(pl.String)},
    )
    ranks = pl.DataFrame(schema={"stage": pl.String, "base": pl.Int64, "new": pl.Int64})
    unjudged = pl.DataFrame(schema={"stage": pl.String, "question_id": pl.String})
    return whole_of(moved, ranks, unjudged, slices).ends


def row(
    low=-0.1,
    high=0.1,
    metric="recall@5",
    stage="context",
    slice_=None,
    moved=(6, 4),
    p=0.5,
    p_holm=None,
    n=40,
):
    """A row of deltas."""
    known = {"slice": slice_, "stage": stage, "metric": metric, "base": 0.5, "new": 0.5, "mean": (low + high) / 2,
             "low": low, "high": high, "p": p, "p_holm": p_holm, "n": n, "detectable": 0.0612,
             "improved": moved[0], "regressed": moved[1]}  # fmt: skip
    return {**dict.fromkeys(SCHEMA), **known}


def same(metric="recall@5", stage="context"):
    """No question has another value."""
    return row(0.0, 0.0, metric, stage, moved=(0, 0), p=1.0) | {"detectable": 0.0}


def said(rows, *deltas, uncalibrated=None):
    table = pl.DataFrame(list(deltas), schema=SCHEMA, orient="row")
    return comparison_sentence(ends(*rows), grounds(table), uncalibrated)


def answer(low=-0.1, high=0.1, metric="answer_correctness", **more):
    return row(low, high, metric, "answer", **more)


LOST = [(f"q-{i}", ["ids"], "lost", "reranked") for i in range(3)]
SAME = [(f"s-{i}", ["ids"] if i < 38 else [], "same", None) for i in range(97)]
WON = [(f"w-{i}", [], "won", None) for i in range(5)]
NONE = "No difference in recall@5 at context that 40 questions can show"


@pytest.mark.parametrize(
    ("rows", "deltas", "text"),
    [
        pytest.param(LOST + SAME + WON, [row(), row(-0.2, -0.1, slice_="ids", p_holm=0.01)], "Hold: ids lost 3 of 41, all at reranked: q-0, q-1, q-2", id="a slice under a rising whole"),
        pytest.param(SAME, [row()], f"{NONE} (smallest detectable: 0.06)", id="nothing changed"),
        pytest.param(SAME, [row(math.nan, math.nan) | {"detectable": math.nan}], NONE, id="one cluster"),
        pytest.param(SAME + WON, [row(0.02, 0.04)], "Ship: recall@5 at context rose by 0.03; 5 questions won, 0 lost", id="surely better"),
        pytest.param(LOST[:1] + SAME, [row()], f"{NONE} (smallest detectable: 0.06)", id="one of a hundred holds nothing back"),
        pytest.param(LOST[:1] + SAME[:3], [row()], "Hold: all questions lost 1 of 4, at reranked: q-0", id="one of four does"),
        pytest.param(SAME, [same()], "No difference: 40 questions end as before", id="nothing moved at all"),
        pytest.param(SAME + WON[:1], [same()], "No difference: recall@5 at context is the same for each of 40 questions", id="what does not vary detects nothing"),
        pytest.param(SAME, [row(-0.04, -0.02)], "Hold: recall@5 at context fell by 0.03; 0 questions won, 0 lost", id="surely worse, though none is lost"),
        pytest.param(SAME + WON, [row(0.02, 0.04), row(-0.04, -0.02, slice_="ids", p_holm=0.01)], "Hold: recall@5 at context fell by 0.03 in ids; 5 questions won, 0 lost", id="a slice surely worse under a rising whole"),
        pytest.param(SAME + WON, [row(0.02, 0.04), row(-0.04, -0.02, slice_="ids", p_holm=0.06)], "Ship: recall@5 at context rose by 0.03; 5 questions won, 0 lost", id="one of many slices may fall by chance"),
        pytest.param(SAME, [], "No difference that 97 questions can show", id="no metric in common"),
        pytest.param(SAME, [row(0.001, 0.003)], "Ship: recall@5 at context rose by 0.002; 0 questions won, 0 lost", id="small is not nothing"),
        pytest.param(SAME + WON, [same(), answer(0.02, 0.2)], "Ship: answer_correctness at answer rose by 0.11; 5 questions won, 0 lost", id="only answers changed"),
        pytest.param(SAME, [same(), answer(-0.2, -0.02)], "Hold: answer_correctness at answer fell by 0.11; 6 questions better, 4 worse", id="worse answers are counted by the metric where no end says so"),
        pytest.param(SAME, [same(), answer(metric="token_f1"), same("contains_reference", "answer")], "No difference in token_f1 at answer that 40 questions can show (smallest detectable: 0.06)", id="without a judge, by what tells answers apart"),
        pytest.param(SAME, [same(), answer(metric="contains_reference", low=0.1, high=0.2), same("answer_correctness", "answer")], "No difference: 40 questions end as before", id="where a judge sees none, words show none"),
        pytest.param(SAME + WON, [row(0.02, 0.04), answer(0.1, 0.3)], "Ship: recall@5 at context rose by 0.03, answer_correctness at answer rose by 0.20; 5 questions won, 0 lost", id="both"),
        pytest.param(SAME + WON, [row(0.02, 0.04), answer()], "Ship: recall@5 at context rose by 0.03, answer_correctness at answer changed by +0.00 (unsure); 5 questions won, 0 lost", id="both, one unsure"),
        pytest.param(SAME + WON, [row(0.02, 0.04), answer(-0.3, -0.1)], "Hold: answer_correctness at answer fell by 0.20, recall@5 at context rose by 0.03; 5 questions won, 0 lost", id="found more, answered worse"),
        pytest.param(SAME, [row(), answer()], "No difference in recall@5 at context or answer_correctness at answer that 40 questions can show (smallest detectable: 0.06 and 0.06)", id="neither can tell"),
        pytest.param(SAME + WON, [row(0.02, 0.04), same("answer_correctness", "answer")], "Ship: recall@5 at context rose by 0.03; 5 questions won, 0 lost", id="answers as before"),
        pytest.param(SAME, [same(), answer(n=0), answer(0.1, 0.3, "faithfulness")], "Ship: faithfulness at answer rose by 0.20; 6 questions better, 4 worse", id="no answer has a reference"),
        pytest.param(SAME, [same(), row(0.1, 0.3, "answer_correctness", "gold_context")], "No difference: 40 questions end as before", id="brackets decide nothing"),
        pytest.param(SAME, [row(metric="context_tokens", low=5.0, high=9.0), row(0.1, 0.2, "recall@3")], "Ship: recall@3 at context rose by 0.15; 0 questions won, 0 lost", id="other cutoffs, and more tokens are no gain"),
    ],
)  # fmt: skip
def test_the_sentence_of_a_comparison(rows, deltas, text):
    assert said(rows, *deltas).text == text


def test_the_interval_is_said_beside_the_sentence():
    held = said(LOST + SAME, row(), row(-0.3, 0.1, slice_="ids", p_holm=0.4))
    assert held.note == "recall@5 at context changed by -0.10 (-0.30 to +0.10 for questions like these), which chance alone may give."  # fmt: skip
    sure = said(LOST + SAME, row(), row(-0.3, -0.1, slice_="ids", p=0.01, p_holm=0.02))
    assert sure.note.endswith("(-0.30 to -0.10 for questions like these).")


def test_it_is_said_why_a_metric_decides_and_what_speaks_against_it():
    found = said(SAME, same(), answer(0.02, 0.2, p=0.077), uncalibrated={"answer_correctness": "."})
    assert found.note == (
        "recall@5 at context is the same for every question, so answer_correctness at answer "
        "decides. answer_correctness at answer changed by +0.11 (+0.02 to +0.20 for questions like "
        "these), though p is 0.077 by permutation: a close call. The judge of answer_correctness "
        "is not calibrated for a gate."
    )


def test_a_slice_that_holds_all_is_no_claim_of_its_own():
    """Of four slices two are of all questions: Holm counts the two others."""
    parts = [("all", 40, 0.02), ("dev", 40, 0.02), ("ko", 20, 0.02), ("en", 20, 0.5)]
    rows = [row(p=0.02), *(row(slice_=name, n=n, p=p) for name, n, p in parts),
            row(slice_="synthetic_unvalidated", n=40, p=0.01)]  # fmt: skip
    table = adjusted(pl.DataFrame(rows, schema=SCHEMA, orient="row"))
    found = dict(table.select("slice", "p_holm").iter_rows())
    assert found.pop("ko") == pytest.approx(0.04)
    assert found == {None: None, "all": None, "dev": None, "en": 0.5,
                     "synthetic_unvalidated": pytest.approx(0.03)}  # fmt: skip
    assert set(grounds(table).metrics[0]) == {None, "ko", "en", "synthetic_unvalidated"}
