"""Figures over all questions: refusals, spread, scores and the thresholds on them."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from metrics_batches import hits, question, table
from numpy.testing import assert_allclose, assert_array_equal

from rayeval.metrics.answers.per_answer import ANSWERED
from rayeval.metrics.answers.refusals import Refusals
from rayeval.metrics.answers.scores import SCORES, Separation, TopScores
from rayeval.metrics.answers.separation import area, auroc, risk_coverage, threshold
from rayeval.metrics.answers.spread import spread
from rayeval.metrics.failure.first_failure import FAILURES
from rayeval.tables import QUESTIONS, conform

INF = math.inf


def answers(*rows, **metrics):
    """Rows of (question, refused, right)."""
    told = [
        {"question_id": name, "stage": "answer", "repeat": 0, "evidence": "all", "refused": refused,
         "right": right}
        for name, refused, right in rows
    ]  # fmt: skip
    result = pa.Table.from_pylist(told, schema=ANSWERED)
    for name, values in metrics.items():
        result = result.append_column(name, pa.array(values, pa.float64()))
    return result


def questions(*rows):
    """Rows of (question, answerable, split, slices)."""
    names = ("question_id", "answerable", "split", "slices")
    given = [dict(zip(names, row, strict=True)) for row in rows]
    return conform(pa.Table.from_pylist(given), QUESTIONS)


def counted(found):
    return {
        (r["slice"], r["answerable"], r["refused"], r["right"]): r["n"] for r in found.to_pylist()
    }


def test_answers_are_counted_by_slice_and_over_all():
    asked = questions(("a", True, None, ["ko"]), ("b", False, None, ["ko", "en"]),
                      ("c", True, None, ["synthetic_unvalidated", "ko"]))  # fmt: skip
    found = Refusals()
    found.add(answers(("a", False, "right"), ("b", True, None), ("c", True, None)), asked)
    found.add(answers(("d", False, "wrong")), questions(("d", True, None, [])))
    assert counted(found.table()) == {
        (None, True, False, "right"): 1,
        (None, True, False, "wrong"): 1,
        (None, False, True, None): 1,
        ("ko", True, False, "right"): 1,
        ("ko", False, True, None): 1,
        ("en", False, True, None): 1,
        ("synthetic_unvalidated", True, True, None): 1,
    }


def test_no_answers_at_all():
    assert Refusals().table().num_rows == 0


def test_spread_within_and_between_questions():
    names = ["a", "a", "b", "b", "c"]
    table_ = answers(*((name, False, None) for name in names), m=[0, 1, 1, 1, np.nan])
    [row] = spread(table_).to_pylist()
    # Within: squares .25 + .25 over 4 − 2 freedoms; means .5 and 1 vary by .125, of which .25 / 2.
    want = {"stage": "answer", "metric": "m", "questions": 2, "repeated": 2, "mean": 0.75,
            "within": 0.5, "between": 0.0}  # fmt: skip
    assert row == want
    far = answers(*((name, False, None) for name in "aabb"), m=[0, 0.2, 0.8, 1])
    [row] = spread(far).to_pylist()
    assert_allclose([row["within"], row["between"]], [math.sqrt(0.02), math.sqrt(0.32 - 0.01)])


def test_what_rounding_leaves_of_a_spread_is_none():
    """Three times the same number has a mean that is not quite it."""
    table_ = answers(*((name, False, None) for name in "aaabbb"), m=[0.1] * 3 + [0.3 - 0.2] * 3)
    [row] = spread(table_).to_pylist()
    assert (row["within"], row["between"]) == (0.0, 0.0)


def test_spread_of_answers_given_once_says_nothing():
    assert spread(answers(("a", False, None), ("b", False, None), m=[0, 1])).num_rows == 0


@pytest.mark.parametrize(
    ("score", "answerable", "want"),
    [
        pytest.param([1, 2, 3, 4], [0, 0, 1, 1], 3, id="apart"),
        pytest.param([1, 3, 2, 4], [0, 0, 1, 1], 2, id="of equals the lowest"),
        pytest.param([1, 2, 3, 4], [1, 1, 0, 0], 1, id="the wrong way round: refuse nothing"),
        pytest.param([-INF, 2, 3], [0, 1, 1], 2, id="nothing found"),
        pytest.param([-INF, -INF], [0, 1], math.nan, id="nothing found at all"),
        pytest.param([1, 2], [1, 1], math.nan, id="one kind"),
        pytest.param([], [], math.nan, id="no questions"),
    ],
)
def test_the_threshold_that_parts_best(score, answerable, want):
    found = threshold(np.array(score, float), np.array(answerable, bool))
    assert_array_equal(found, want)


@pytest.mark.parametrize(
    ("score", "answerable", "want"),
    [
        pytest.param([1, 2, 3, 4], [0, 0, 1, 1], 1, id="apart"),
        pytest.param([4, 3, 2, 1], [0, 0, 1, 1], 0, id="the wrong way round"),
        pytest.param([1, 1, 1], [0, 1, 1], 0.5, id="all the same"),
        pytest.param([1, 2, 2], [0, 0, 1], 0.75, id="a tie counts half"),
        pytest.param([-INF, 1], [0, 1], 1, id="nothing found"),
        pytest.param([1], [1], math.nan, id="one kind"),
    ],
)
def test_auroc(score, answerable, want):
    assert_array_equal(auroc(np.array(score, float), np.array(answerable, bool)), want)


def test_risk_coverage_by_hand():
    found = risk_coverage(np.array([0.9, 0.5, 0.5, 0.1]), np.array([0, 1, 0, 1.0]))
    assert_allclose(found, [[0.9, 0.5, 0.1], [0.25, 0.75, 1], [0, 1 / 3, 0.5]])
    assert area(found[1], found[2]) == pytest.approx(0.5 / 3 + 0.125)


SCORED = st.lists(
    st.tuples(st.sampled_from([-INF, 0.0, 0.5, 1.0, 2.0]), st.booleans(), st.booleans()),
    min_size=1, max_size=12,
)  # fmt: skip


@given(SCORED)
def test_laws_of_separation(drawn):
    score, answerable, wrong = (np.array(column) for column in zip(*drawn, strict=True))
    loss = wrong.astype(float)
    limits, coverage, risk = risk_coverage(score, loss)
    assert (np.diff(limits) < 0).all()
    assert (np.diff(coverage) > 0).all()
    assert coverage[-1] == 1
    assert risk[-1] == pytest.approx(loss.mean())
    assert 0 <= area(coverage, risk) <= 1
    if answerable.any() and not answerable.all():
        finite = np.maximum(score, -9)
        pairs = finite[answerable][:, None] - finite[~answerable][None, :]
        assert auroc(score, answerable) == pytest.approx(np.mean((pairs > 0) + (pairs == 0) / 2))
        limit = threshold(score, answerable)
        if not math.isnan(limit):
            gain = [(score[~answerable] < t).mean() - (score[answerable] < t).mean()
                    for t in (limit, *score[np.isfinite(score)])]  # fmt: skip
            assert gain[0] == pytest.approx(max(gain))


def scored(*rows):
    return pa.Table.from_pylist([dict(zip(SCORES.names, row, strict=True)) for row in rows], SCORES)


def ended(**reached):
    rows = [{"question_id": name, "reached_stages": stages} for name, stages in reached.items()]
    return pa.Table.from_pylist(rows, schema=FAILURES)


def test_scores_of_the_best_hits():
    rows = [question("a", s=hits("xy"), t=[]), question("b", s=None, t=hits("z"))]
    found = TopScores(("s", "t"))(table(rows)).to_pylist()
    assert [tuple(row.values()) for row in found] == [
        ("a", "s", 2), ("a", "t", -INF), ("b", "t", 1),
    ]  # fmt: skip


def test_hits_without_scores_have_none():
    rows = [question("a", s=[{"chunk_id": "x", "score": None}])]
    assert TopScores(("s",))(table(rows)).num_rows == 0


def two_splits(refused="t3", times=7):
    """On dev 0.5 parts them; on test it refuses one of two without an answer, and one with."""
    dev = [("d1", True, 0.9), ("d2", True, 0.5), ("d3", False, 0.2)]
    many = [
        (f"{name}-{n}", can, "dev", score) for name, can, score in dev for n in range(3 * times)
    ]
    rows = [*many, ("t1", True, "test", 0.7), ("t2", True, "test", 0.4), ("t3", False, "test", 0.3),
            ("t4", False, "test", 0.6)]  # fmt: skip
    asked = questions(*((name, can, split, ["x"]) for name, can, split, _ in rows))
    found = Separation(("s",), "s")
    scores = scored(*((name, "s", score) for name, _, _, score in rows))
    said = [(name, name == refused, None if name == refused else "right") for name, can, *_ in rows
            if can]  # fmt: skip
    given = answers(*said, ("t3", True, None), ("t4", False, None))
    whole = {name: ["s"] for name, can, *_ in rows if can}
    found.add(scores, ended(**{**whole, "t2": []}), asked, given)
    return found


def test_a_threshold_is_chosen_on_dev_and_applied_on_test():
    rows = {(r["stage"], r["slice"]): r for r in two_splits().thresholds().to_pylist()}
    assert set(rows) == {(stage, part) for stage in ("s", "answer") for part in (None, "x")}
    row = rows["s", None]
    assert (row["threshold"], row["calibrated_on"]) == (0.5, "all")
    assert (row["n_dev"], row["n_dev_unanswerable"], row["n_test"]) == (63, 21, 4)
    assert (row["right_refusal"], row["false_refusal"], row["accuracy"]) == (0.5, 0.5, 0.5)
    assert (row["n_answerable"], row["n_unanswerable"]) == (44, 23)
    assert row["unanswerable_p50"] == 0.2


def test_too_few_questions_choose_no_threshold():
    """19 answerable ones that any score would part from 20 others decide nothing."""
    rows = {(r["stage"], r["slice"]): r for r in two_splits(times=6).thresholds().to_pylist()}
    assert all(math.isnan(row["threshold"]) for row in rows.values())
    row = rows["s", None]
    assert (row["calibrated_on"], row["n_dev"], row["n_dev_unanswerable"]) == (None, 54, 18)
    assert math.isnan(row["right_refusal"])


def test_refusals_change_nothing_of_how_well_a_score_parts_questions():
    """The answers' score is that of the stage before: a question that was refused keeps it."""
    for refused in ("t2", "d1-0"):
        rows = {
            r["stage"]: r for r in two_splits(refused).thresholds().to_pylist() if not r["slice"]
        }
        same = ("auroc", "threshold", "n_answerable", "n_unanswerable", "n_dev", "n_test")
        assert [rows["answer"][name] for name in same] == [rows["s"][name] for name in same]


def test_what_goes_wrong_at_a_stage_is_what_it_cannot_answer():
    points = {"s": {}, "answer": {}}
    for row in two_splits(times=1).curves().to_pylist():
        points[row["stage"]][row["threshold"]] = row["risk"]
    assert points["answer"] == {0.9: 0, 0.7: 0, 0.6: 1 / 5, 0.5: 1 / 8, 0.4: 1 / 9}
    assert points["s"] == {
        0.9: 0, 0.7: 0, 0.6: 1 / 5, 0.5: 1 / 8, 0.4: 2 / 9, 0.3: 3 / 10, 0.2: 6 / 13,
    }  # fmt: skip


def test_nobody_knows_what_goes_wrong_with_a_question_without_labels():
    found = Separation(("s",), None)
    found.add(scored(("a", "s", 1.0), ("b", "s", 0.0)), ended(),
              questions(("a", True, None, []), ("b", False, None, [])), None)  # fmt: skip
    [row] = found.thresholds().to_pylist()
    assert (row["auroc"], found.curves().num_rows) == (1, 0)
    assert math.isnan(row["area"])


def test_a_slice_with_enough_questions_has_a_threshold_of_its_own():
    rows = [(f"{side}{n}{can}", can, "dev", side, n / 100 + can / 2 + (side == "b"))
            for side in "ab" for can in (False, True) for n in range(20)]  # fmt: skip
    found = Separation(("s",), None)
    asked = questions(*((name, can, split, [side]) for name, can, split, side, _ in rows))
    scores = scored(*((name, "s", score) for name, *_, score in rows))
    found.add(scores, ended(), asked, None)
    table_ = {
        r["slice"]: (r["threshold"], r["calibrated_on"]) for r in found.thresholds().to_pylist()
    }
    assert table_ == {None: (0.5, "all"), "a": (0.5, "slice"), "b": (1.5, "slice")}


def test_without_a_dev_split_nothing_is_chosen():
    found = Separation(("s",), None)
    found.add(scored(("a", "s", 1.0), ("b", "s", 0.0)), ended(a=["s"]),
              questions(("a", True, None, []), ("b", False, None, [])), None)  # fmt: skip
    [row] = found.thresholds().to_pylist()
    assert math.isnan(row["threshold"])
    assert (row["calibrated_on"], row["n_dev"], row["n_test"], row["auroc"]) == (None, 0, 0, 1)


def test_without_unanswerable_questions_there_is_nothing_to_tell_apart():
    found = Separation(("s",), None)
    found.add(scored(("a", "s", 1.0)), ended(a=["s"]), questions(("a", True, "dev", [])), None)
    assert (found.thresholds().num_rows, found.curves().num_rows) == (0, 0)
    assert Separation(("s",), None).thresholds().num_rows == 0


@settings(max_examples=20)
@given(SCORED, st.integers(1, 5))
def test_any_split_into_parts_gives_the_same_tables(drawn, size):
    rows = [
        (f"q{n:02}", can, "dev" if n % 2 else "test", score)
        for n, (score, can, _) in enumerate(drawn)
    ]
    tables = []
    for parts in ([rows], [rows[i : i + size] for i in range(0, len(rows), size)]):
        found = Separation(("s",), "s")
        for part in parts:
            found.add(
                scored(*((name, "s", score) for name, _, _, score in part)),
                ended(**{name: ["s"] for name, can, _, _ in part if can}),
                questions(*((name, can, split, ["x"]) for name, can, split, _ in part)),
                answers(*((name, False, "right") for name, *_ in part)),
            )
        tables.append((str(found.thresholds().to_pylist()), str(found.curves().to_pylist())))
    assert tables[0] == tables[1]
