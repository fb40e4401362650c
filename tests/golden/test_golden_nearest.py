"""Where a suggestion begins and ends, and what its answer still says."""

from __future__ import annotations

import pytest

from rayeval.golden.nearest import nearest
from rayeval.golden.stale import stale

ROPES = "Ropes are retired after 3 years or after any fall with a factor above 1.2"
SAFETY = (
    "Climbers hold the belay test.\n\nRopes are retired after any fall with a factor above 1.2, "
    "whichever comes first.\nHarnesses are inspected every Monday.\n"
)


@pytest.mark.parametrize(
    ("quote", "text", "want"),
    [
        pytest.param(ROPES, SAFETY, "Ropes are retired after any fall with a factor above 1.2",
                     id="words are gone: neither the paragraph above nor half a clause"),
        pytest.param(f"{ROPES}, whichever comes first.", SAFETY,
                     "Ropes are retired after any fall with a factor above 1.2, whichever comes "
                     "first.", id="to the sentence's end"),
        pytest.param("A pause is at most 60 days", "One: a fee. A pause is at most 45 days. Ask.",
                     "A pause is at most 45 days.", id="a full stop costs next to nothing"),
        pytest.param("The loan period is 21 days", "The loan period is 28 days, and then it ends.",
                     "The loan period is 28 days", id="the sentence goes on and the quote did not"),
        pytest.param("Films are lent for 7 days.\n\nBooks for 21 days.",
                     "Films are lent for 9 days.\n\nBooks for 21 days. Ask.",
                     "Films are lent for 9 days.\n\nBooks for 21 days.",
                     id="a quote of two paragraphs"),
        pytest.param("빌린 장비를 잃으면 새것 값의 70%를 문다.",
                     "장비 대여\n\n빌린 장비를 잃으면 새것 값의 80%를 문다. 늦으면 더 낸다.",
                     "빌린 장비를 잃으면 새것 값의 80%를 문다.", id="Korean"),
        pytest.param("休假最多为六十天。", "规定。休假最多为四十天。请问。", "休假最多为四十天。",
                     id="no spaces"),
    ],
)  # fmt: skip
def test_a_suggestion_ends_where_sentences_and_paragraphs_do(quote, text, want):
    found = nearest(quote, text, "s", "r")
    assert found is not None and found.text == want
    assert text[slice(*found.place)] == want


@pytest.mark.parametrize(
    ("old", "new", "answer", "want"),
    [
        pytest.param("at most 60 days.", "at most 45 days.", "60 days a year", ["60"], id="number"),
        pytest.param("값의 70%를", "값의 80%를", "70%", ["70"], id="Korean particles"),
        pytest.param("costs 1,500 won", "costs 1,600 won", "1,500 won", ["1,500"], id="thousands"),
        pytest.param("ask Ms Kim", "ask Ms Lee", "Kim", ["Kim"], id="a name"),
        pytest.param(
            "60 days or 6 weeks", "6 weeks or 60 days", "60 days", [], id="all still there"
        ),
        pytest.param("at most 60 days", "at most 45 days", "two months", [], id="another wording"),
        pytest.param("at most 60 days", "at most 45 days", None, [], id="no answer"),
    ],
)
def test_what_an_answer_still_says(old, new, answer, want):
    assert stale(old, new, answer) == want
