"""Floors under a run's metrics."""

import polars as pl
import pytest

import rayeval
from rayeval.errors import ConfigError
from rayeval.testing import assert_metrics


def test_floors_that_hold(golden):
    run = rayeval.evaluate(
        lambda q: ["25 days of paid leave after 90 days in 서울"], golden=golden, k=3,
        runs=golden.parent / "runs",
    )  # fmt: skip
    assert_metrics(run, {"recall@3": 1.0, "mrr@3": 1})
    assert_metrics(run, {"recall@3": 1.0}, slice="numbers", stage="search")


def message_of(run, floors, **where):
    with pytest.raises(AssertionError) as caught:
        assert_metrics(run, floors, **where)
    return str(caught.value)


def test_a_floor_that_does_not_hold_names_the_questions(run):
    said = message_of(run, {"recall@3": 0.9})
    assert "recall@3 is 0.5000, below the floor of 0.9" in said
    assert "each of 2 questions is worth 0.500" in said
    assert "2 questions fell short" in said
    assert "1 question ended in an error and is in no mean" in said
    assert "q-2  recall@3 0.000, RETRIEVAL_MISSED_GOLD at search  when do tokens expire" in said
    assert "q-3  error  [bold]where[/bold]" in said
    assert "error: TimeoutError: the index is [cold]" in said
    assert "look at RETRIEVAL_MISSED_GOLD (1: q-2)" in said
    assert "q-1" not in said
    assert max(map(len, said.splitlines()[:-1])) <= 100


def test_errors_never_pass(run):
    assert "ended in an error" in message_of(run, {"recall@3": 0.5})


def test_a_slice_is_judged_by_its_own_questions(run):
    assert_metrics(run, {"recall@3": 1.0}, slice="numbers")
    assert "q-2" not in message_of(run, {"mrr@3": 0.9}, slice="numbers")


class Tables:
    """As a run, with one row of aggregate and slices."""

    run_id, path = "r", "runs/r"
    manifest = {"stages": ["s"]}  # noqa: RUF012

    def __init__(self, mean, n, n_error=0):
        row = {"stage": "s", "metric": "recall@3", "mean": mean, "n": n, "n_error": n_error}
        self.aggregate = pl.DataFrame([row])
        self.slices = pl.DataFrame([{"slice": "empty", **row}])
        self.questions = pl.DataFrame(
            {"question_id": ["q"], "question": ["x"], "slices": [["empty"]]}
        )
        self.per_query = pl.DataFrame(
            {"question_id": ["q"], "stage": ["s"], "status": ["ok"], "recall@3": [float("nan")]}
        )
        kinds = dict.fromkeys(("question_id", "code", "stage", "status"), pl.String)
        self.failures = pl.DataFrame(schema=kinds)
        self.trace = pl.DataFrame({"question_id": ["q"], "stage": ["s"], "error": [None]})


@pytest.mark.parametrize("mean", [float("nan"), None])
@pytest.mark.parametrize("where", [{}, {"slice": "empty"}])
def test_undefined_is_never_a_pass(mean, where):
    assert "recall@3 is undefined" in message_of(Tables(mean, 0), {"recall@3": 0.0}, **where)


def test_a_mean_that_is_the_floor_but_for_rounding_passes():
    assert_metrics(Tables(0.7 + 0.1 + 0.1 - 1e-16, 10), {"recall@3": 0.9})


@pytest.mark.parametrize(
    ("floors", "where", "message"),
    [
        pytest.param(
            {"recall@9": 1}, {}, "no metric 'recall@9'; it has recall@3", id="no such metric"
        ),
        pytest.param({"recall@3": 1}, {"stage": "x"}, "no stage 'x'; it has s", id="no such stage"),
        pytest.param(
            {"recall@3": 1}, {"slice": "x"}, "no slice 'x'; it has empty", id="no such slice"
        ),
        pytest.param({}, {}, "no floor is given", id="no floor"),
        pytest.param(
            {"recall@3": float("nan")}, {}, "expected a finite number", id="NaN for a floor"
        ),
        pytest.param({"context_tokens": 5}, {}, "less is better", id="less is better"),
    ],
)
def test_floors_that_say_nothing(floors, where, message):
    with pytest.raises(ConfigError, match=message):
        assert_metrics(Tables(1.0, 5), floors, **where)


def ranked(golden, k=3):
    """q-1's gold second, q-2's first, q-3's nowhere."""
    found = {"how": ["nothing", "25 days of paid leave"], "when": ["after 90 days"]}
    return rayeval.evaluate(
        lambda q: found.get(q.split()[0], []), golden=golden, k=k, runs=golden.parent / "runs"
    )


def test_only_what_pulls_a_metric_below_its_floor_is_listed_and_said(golden):
    said = message_of(ranked(golden), {"recall@3": 0.9, "mrr@3": 0.4})
    assert (
        "1 question fell short" in said
    )  # q-1's mrr of 0.5 keeps to its floor, and its recall is 1
    assert "q-3  recall@3 0.000, RETRIEVAL_MISSED_GOLD at search" in said
    assert "mrr@3" not in said
    assert "q-1" not in said


def test_a_question_that_has_its_gold_says_what_it_fell_short_in(golden):
    said = message_of(ranked(golden), {"recall@3": 0.9, "mrr@3": 0.9})
    assert "2 questions fell short" in said
    assert "q-1  mrr@3 0.500, all gold there, further down" in said
    assert "q-3  recall@3 0.000, mrr@3 0.000, RETRIEVAL_MISSED_GOLD at search" in said


def test_a_metric_above_its_floor_lists_only_errors(run):
    said = message_of(run, {"recall@3": 0.5})
    assert "1 question fell short" in said
    assert "q-3  error" in said
    assert "q-2" not in said


def test_an_unknown_metric_ends_at_the_line_of_the_test(run):
    with pytest.raises(ConfigError, match=r"no metric 'recall@7'.*k= where they cut") as caught:
        assert_metrics(run, {"recall@7": 0.9})
    frames = [entry.frame.code.name for entry in caught.traceback]
    assert frames == ["test_an_unknown_metric_ends_at_the_line_of_the_test", "assert_metrics"]
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__
