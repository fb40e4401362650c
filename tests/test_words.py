"""Words for numbers of things."""

import math

import pytest

from rayeval.words import blank, percent, plural, verb


@pytest.mark.parametrize(
    ("count", "said"),
    [
        pytest.param(0, "0 questions are", id="none"),
        pytest.param(1, "1 question is", id="one"),
        pytest.param(2, "2 questions are", id="two"),
        pytest.param(1234, "1,234 questions are", id="many"),
    ],
)
def test_nouns_and_verbs_go_with_their_number(count, said):
    assert f"{plural(count, 'question')} {verb(count, 'is', 'are')}" == said


def test_a_noun_with_another_plural():
    assert [plural(n, "query", "queries") for n in (1, 2)] == ["1 query", "2 queries"]


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b", "\u3000\ufeff\u00ad", "\0\x1b"])
def test_what_nobody_sees_is_blank(text):
    assert blank(text)
    assert not blank(f"{text}가{text}")


@pytest.mark.parametrize(
    ("share", "said"),
    [
        pytest.param(3 / 24, "13%", id="a half goes up"),
        pytest.param(5 / 8, "63%", id="whatever stands before it"),
        pytest.param(29 / 200, "15%", id="also where 100 times it is less as a float"),
        pytest.param(0.124, "12%", id="less than a half goes down"),
        pytest.param(1.0, "100%", id="all"),
        pytest.param(math.nan, "–", id="of nothing"),
    ],
)
def test_percent_rounds_halves_upwards(share, said):
    assert percent(share) == said
