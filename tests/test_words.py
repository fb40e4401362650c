"""Words for numbers of things."""

import pytest

from rayeval.words import blank, plural, verb


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
