"""Questions that say nearly the same."""

from __future__ import annotations

import itertools

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rayeval.golden.similar import GRAM, LEAST, plain, similar

LETTERS = st.text(st.sampled_from("abc 한국ㄱé1"), max_size=14)


def pairs(*texts: str) -> list[tuple[int, int]]:
    found = similar(pl.Series(texts, dtype=pl.String))
    return list(zip(found.left.tolist(), found.right.tolist(), strict=True))


def jaccard(one: str, other: str) -> float:
    """By the definition."""
    grams = []
    for text in plain(pl.Series([one, other])).to_list():
        padded = f" {text} "
        runs = {padded[i : i + GRAM] for i in range(len(padded) - GRAM + 1)}
        grams.append(runs if text else set())
    return len(grams[0] & grams[1]) / max(1, len(grams[0] | grams[1]))


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        pytest.param("How many days of leave?", "how many  days of LEAVE", True, id="case, marks"),
        pytest.param("How many days of paid leave do I get?", "How many paid leave days do I get?",
                     True, id="another order"),
        pytest.param("연차는 며칠인가요", "연차가 며칠인가요?", True, id="a Korean particle"),
        pytest.param("연차는 며칠인가요", "\u110b\u1167\u11ab차는 며칠인가요", True, id="NFD"),
        pytest.param("café hours", "cafe hours", True, id="an accent"),
        pytest.param("What is the price of PN-2299", "What is the price of PN-2300", True,
                     id="one template"),
        pytest.param("How many days of leave?", "Where can I park my bicycle?", False, id="others"),
        pytest.param("연차는 며칠인가요", "주차장은 어디인가요", False, id="other Korean ones"),
        pytest.param("???", "!!!", False, id="nothing to compare"),
        pytest.param("", "", False, id="empty"),
    ],
)  # fmt: skip
def test_alike(one, other, alike):
    assert pairs(one, other) == ([(0, 1)] if alike else [])


def test_none_and_one():
    assert pairs() == []
    assert pairs("a") == []


@given(st.lists(LETTERS, max_size=8))
@settings(max_examples=60)
def test_what_is_found_is_alike_and_what_is_nearly_equal_is_found(texts):
    found = similar(pl.Series(texts, dtype=pl.String))
    got = {(a, b): s for a, b, s in zip(found.left, found.right, found.similarity, strict=True)}
    for a, b in itertools.combinations(range(len(texts)), 2):
        exact = jaccard(texts[a], texts[b])
        if (a, b) in got:
            assert got[a, b] == pytest.approx(exact, abs=0)
            assert exact >= LEAST
        else:
            assert exact < 0.75  # 1 - 7e-6 of such pairs are compared


def test_a_large_family_is_tied_together():
    found = pairs(*(f"What does article {n} of the annual travel policy say" for n in range(200)))
    assert {row for pair in found for row in pair} == set(range(200))
