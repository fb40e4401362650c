"""Prediction-powered intervals: by hand, and as often right as they say."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from rayeval.stats.ppi import powered


def test_a_judge_that_says_nothing_leaves_the_labels_alone():
    people = np.array([1.0, 0.0, 1.0, 1.0, np.nan, np.nan])
    found = powered(np.full(6, 0.5), people, np.full(6, 4 / 6), np.arange(6))
    assert found.tuning == 0
    assert found.labels == found.ppi
    assert_allclose(found.labels.value, 0.75)
    # Student's t over the four labelled items, within what a share can be
    error = np.std([1, 0, 1, 1], ddof=1) / 2
    assert (found.labels.low, found.labels.high) == (0.0, 1.0)
    assert stats.t.ppf(0.975, 3) * error > 0.75
    scaled = powered(np.full(6, 0.5), 0.5 + people / 100, np.full(6, 4 / 6), np.arange(6))
    assert_allclose(
        scaled.labels.high - scaled.labels.value, stats.t.ppf(0.975, 3) * error / 100, rtol=1e-9
    )


def test_labels_that_are_all_alike_are_not_taken_for_certainty():
    people = np.array([1.0] * 20 + [np.nan] * 20)
    found = powered(np.array([1.0, 0.0] * 20), people, np.full(40, 0.5), np.arange(40))
    assert found.labels == found.ppi
    assert (found.ppi.value, found.ppi.high) == (1.0, 1.0)
    assert_allclose(found.ppi.low, 0.025 ** (1 / 20))  # Clopper and Pearson of 20 of 20
    parts = 1 / (1 + np.arange(40.0) % 7)  # whose sum is 1 but for rounding
    uneven = powered(np.ones(40), people, np.full(40, 0.5), np.arange(40), parts=parts)
    assert uneven.labels == found.labels


def test_items_are_parts_of_the_mean_as_they_are_told():
    """One answer of one claim and one of three: the mean of answers, not of claims."""
    judge, clusters = np.array([1.0, 0.0, 0.0, 0.0]), np.array([0, 1, 1, 1])
    found = powered(judge, judge, np.ones(4), clusters, parts=np.array([1, 1 / 3, 1 / 3, 1 / 3]))
    assert_allclose([found.judge, found.labels.value, found.ppi.value], 0.5)


def test_a_perfect_judge_is_believed():
    truth = np.array([1.0, 0.0] * 50)
    people = np.where(np.arange(100) < 20, truth, np.nan)
    found = powered(truth, people, np.full(100, 0.2), np.arange(100))
    assert_allclose(found.ppi.value, 0.5)
    assert found.tuning > 0.7
    assert found.ppi.high - found.ppi.low < 0.6 * (found.labels.high - found.labels.low)


def test_a_biased_judge_is_corrected():
    truth = np.array([1.0, 0.0, 0.0, 0.0] * 100)
    people = np.where(np.arange(400) % 5 == 0, truth, np.nan)
    found = powered(
        np.maximum(truth, np.arange(400) % 3 == 0), people, np.full(400, 0.2), np.arange(400)
    )
    assert found.judge > 0.45
    assert found.ppi.low < 0.25 < found.ppi.high


def test_items_drawn_more_often_count_less():
    judge, people = np.array([0.0, 0.0, 0.0, 1.0]), np.array([0.0, np.nan, np.nan, 1.0])
    found = powered(judge, people, np.array([1 / 3, 1 / 3, 1 / 3, 1.0]), np.arange(4))
    assert_allclose(found.labels.value, 0.25)


@pytest.mark.parametrize("people", [[], [1.0]])
def test_nothing_or_one_label_gives_no_limits(people):
    values = np.array([*people, np.nan])
    found = powered(np.ones(len(values)), values, np.ones(len(values)), np.arange(len(values)))
    assert np.isnan(found.ppi.low)


@pytest.mark.parametrize(
    ("size", "over"),
    [
        pytest.param(1, False, id="independent items"),
        pytest.param(1, True, id="low scores drawn more often"),
        pytest.param(4, False, id="items in clusters"),
    ],
)
def test_intervals_hold_the_truth_as_often_as_they_say_and_are_narrower(size, over):
    """1,200 sets of 600 items, some 150 of them labelled, by a judge right 85% of the time."""
    rng = np.random.default_rng(7)
    hits, narrower, widths = 0, 0, np.zeros(2)
    for _ in range(1200):
        clusters = np.repeat(np.arange(600 // size), size)
        chance = np.clip(0.7 + 0.2 * rng.standard_normal(600 // size), 0, 1)[clusters]
        truth = (rng.random(600) < (chance if size > 1 else 0.7)).astype(float)
        judge = np.where(rng.random(600) < 0.85, truth, 1 - truth)
        probability = np.where(judge < 0.5, 0.5, 0.15) if over else np.full(600, 0.25)
        # clusters are labelled whole
        drawn = (
            rng.random(600 // size)[clusters] < probability
            if size > 1
            else rng.random(600) < probability
        )
        found = powered(judge, np.where(drawn, truth, np.nan), probability, clusters)
        mean = chance.mean() if size > 1 else 0.7
        hits += found.ppi.low <= mean <= found.ppi.high
        mine, labels = found.ppi.high - found.ppi.low, found.labels.high - found.labels.low
        narrower += mine <= labels + 1e-12
        widths += [mine, labels]
    assert 0.93 <= hits / 1200 <= 0.97
    assert narrower == 1200
    assert widths[0] < 0.9 * widths[1]
