"""How small a difference a number of questions can show."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rayeval.power import detectable, questions_needed


@pytest.mark.parametrize(
    ("difference", "want"),
    [
        # (1.959964 + 0.841621)**2 = 7.848880; times (0.2 - d*d) / (d*d), rounded up
        pytest.param(0.1, 150, id="a tenth: 149.13"),
        pytest.param(0.05, 621, id="a twentieth: 620.06"),
        pytest.param(0.3, 19, id="no fewer questions differ than make up the difference: 18.31"),
    ],
)
def test_questions_needed(difference, want):
    assert questions_needed(difference) == want


@given(st.integers(1, 10**7))
def test_the_two_formulas_are_one(n):
    assert 0 < detectable(n) <= 1
    if detectable(n) <= 0.2:
        assert abs(questions_needed(detectable(n)) - n) <= 1


def test_no_question_shows_nothing():
    assert detectable(0) == 1


def test_power_is_what_it_says():
    """150 questions of which 20% differ find a difference of 0.1 about four times in five."""
    rng = np.random.default_rng(7)
    draws = rng.choice([1, -1, 0], p=[0.15, 0.05, 0.8], size=(4000, questions_needed(0.1)))
    mean, deviation = draws.mean(axis=1), draws.std(axis=1, ddof=1)
    found = np.abs(mean / (deviation / np.sqrt(draws.shape[1]))) > 1.96
    assert 0.76 < found.mean() < 0.86
