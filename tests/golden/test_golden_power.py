"""How small a difference a number of questions can show."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from rayeval.power import detectable, questions_needed


@pytest.mark.parametrize(
    ("difference", "want"),
    [
        # (1.959964 + 0.841621)**2 = 7.848880; times (0.2 - d*d) / (d*d), rounded up
        pytest.param(0.1, 150, id="a tenth: 149.13"),
        pytest.param(0.05, 621, id="a twentieth: 620.06"),
        pytest.param(0.3, 20, id="6 must move one way: 6 / 0.3"),
        pytest.param(0.9, 7, id="6 of 7"),
    ],
)
def test_questions_needed(difference, want):
    assert questions_needed(difference) == want


@given(st.integers(6, 10**7))
def test_the_two_formulas_are_one(n):
    assert 0 < detectable(n) <= 1
    if detectable(n) <= 0.2:
        assert abs(questions_needed(detectable(n)) - n) <= 1


@pytest.mark.parametrize("n", range(6))
def test_too_few_questions_show_nothing(n):
    """Even if all of them moved one way, chance would do it in more than one case of twenty."""
    assert detectable(n) is None
    assert binomtest(n, n).pvalue > 0.05 if n else True


@pytest.mark.parametrize("n", [6, 9, 20, 29])
def test_few_questions_show_what_a_sign_test_can(n):
    moved = round(detectable(n) * n)
    assert binomtest(moved, moved).pvalue < 0.05 < binomtest(moved - 1, moved - 1).pvalue


def test_power_is_what_it_says():
    """150 questions of which 20% differ find a difference of 0.1 about four times in five."""
    rng = np.random.default_rng(7)
    draws = rng.choice([1, -1, 0], p=[0.15, 0.05, 0.8], size=(4000, questions_needed(0.1)))
    mean, deviation = draws.mean(axis=1), draws.std(axis=1, ddof=1)
    found = np.abs(mean / (deviation / np.sqrt(draws.shape[1]))) > 1.96
    assert 0.76 < found.mean() < 0.86
