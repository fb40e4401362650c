"""Quotes in texts: exact, normalised, chosen by context."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rayeval.golden.anchor import anchor, chosen, normal, normalised, occurrences

NFD = unicodedata.normalize("NFD", "한국어 café")
TEXTS = st.text(
    st.sampled_from(
        "ab é한국ㄱ각😀\r\n\t\u00a0\u2000\u2028\u3000\ufeff\u0323\u0307\u0344\u0f73"
        f"\u1100\u1161\u11a8\uac00\u212b\u0958\u09c7\u09be{NFD}"
    ),
    max_size=40,
)


@pytest.mark.parametrize(
    ("text", "quote", "want"),
    [
        pytest.param("A😀B", "B", [(2, 3)], id="code points, not UTF-16 units"),
        pytest.param("aaa", "aa", [(0, 2), (1, 3)], id="occurrences may overlap"),
        pytest.param("abc", "", [], id="an empty quote stands nowhere"),
        pytest.param("abc", "x", [], id="not there"),
        pytest.param("Café", "e", [], id="a composed letter is another letter"),
    ],
)
def test_exact_occurrences(text, quote, want):
    assert occurrences(text, quote) == want


@pytest.mark.parametrize(
    ("text", "quote", "want"),
    [
        pytest.param("x a\r\nb y", "a\nb", [(2, 6)], id="other line ends"),
        pytest.param("x a \t\n  b y", "a b", [(2, 9)], id="a run of white space"),
        pytest.param("x a\u00a0b", "a b", [(2, 5)], id="a space that doesn't break"),
        pytest.param(NFD, "한국어", [(0, 8)], id="a decomposed source, a composed quote"),
        pytest.param("한국어 café", NFD, [(0, 8)], id="a composed source, a decomposed quote"),
        pytest.param(NFD + " 끝", "é 끝", [(12, 16)], id="offsets after what was composed"),
        pytest.param(
            "😀 a  b", " a b ", [(2, 6)], id="white space at the quote's ends is no matter"
        ),
        pytest.param("ab", "a b", [], id="white space is not optional"),
        pytest.param("a  b a b", "a b", [(0, 4), (5, 8)], id="twice"),
        pytest.param("abc", " \n ", [], id="a quote of white space stands nowhere"),
    ],
)
def test_normalised_occurrences(text, quote, want):
    assert normalised(text).find(normal(quote)) == want


@given(TEXTS)
def test_a_reading_is_the_normalised_text(text):
    reading = normalised(text)
    assert reading.text.strip() == normal(text)
    assert len(reading.starts) == len(reading.ends) == len(reading.text)
    assert list(reading.starts) == sorted(reading.starts)
    assert list(reading.ends) == sorted(reading.ends)
    assert all(0 <= s < e <= len(text) for s, e in zip(reading.starts, reading.ends, strict=True))


@given(TEXTS, st.data())
def test_a_span_is_found_by_its_own_text(text, data):
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    assert ((start, end) in occurrences(text, text[start:end])) == (start < end)


@given(st.lists(TEXTS, min_size=3, max_size=3), st.sampled_from(["NFC", "NFD"]))
def test_a_quote_is_found_whatever_its_form(parts, form):
    before, quote, after = parts
    text = f"{before}|{quote}|.{after}"
    other = " \n ".join(unicodedata.normalize(form, f"|{quote}|").split())
    found = normalised(text).find(normal(other))
    assert (len(before), len(before) + len(quote) + 2) in found


@pytest.mark.parametrize(
    ("text", "start", "before", "after", "want"),
    [
        pytest.param("one. 5 days. end", 5, "one. ", ". end", ("kept", [(5, 11)]), id="unchanged"),
        pytest.param("one. 5 days! END", 5, "one. ", ". end", ("kept", [(5, 11)]), id="a side"),
        pytest.param("two. 5 days! END", 5, "one. ", ". end", ("kept", [(5, 11)]), id="the only"),
        pytest.param("so one. 5 days.", 5, "one. ", ".", ("moved", [(8, 14)]), id="moved"),
        pytest.param(
            "two. 5 days! one. 5 days.", 5, "one. ", ".", ("moved", [(18, 24)]),
            id="at the old place without its context, elsewhere with it",
        ),
        pytest.param(
            "5 days! 5 days? 5 days", 30, "one. ", ". end",
            ("ambiguous", [(0, 6), (8, 14), (16, 22)]), id="no context tells them apart",
        ),
        pytest.param(
            "a 5 days b 5 days", 30, "one. ", "", ("moved", [(11, 17)]), id="the end is a context",
        ),
        pytest.param("one. 5\r\n days.", 5, "one. ", ".", ("normalised", [(5, 13)]), id="form"),
        pytest.param(
            "two. 5  days. one.\n5  days.", 5, "one. ", "!", ("normalised", [(19, 26)]),
            id="form, chosen by context",
        ),
        pytest.param("one. six days.", 5, "one. ", ".", ("lost", []), id="lost, never guessed"),
    ],
)  # fmt: skip
def test_anchor_after_a_change(text, start, before, after, want):
    found = anchor(text, "5 days", start=start, before=before, after=after)
    assert (found.status, found.places) == want


def test_more_matching_sides_win():
    assert chosen("xQ yQz", [(1, 2), (4, 5)], "y", "z") == [(4, 5)]
    assert chosen("yQ yQz", [(1, 2), (4, 5)], "y", "z") == [(4, 5)]
    assert chosen("", [], "y", "z") == []


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("x\r\nQ z y\r\nQ z", [(10, 11)], id="a context of other line ends"),
        pytest.param("x\nQ z y\nQ z", [(8, 9)], id="an exact context"),
    ],
)
def test_contexts_match_whatever_their_form(text, want):
    assert chosen(text, occurrences(text, "Q"), "y\n", " z z") == want


def test_unknown_contexts_choose_nothing():
    found = anchor("Q a Q", "Q", start=9, before=None, after=None)
    assert (found.status, found.places) == ("ambiguous", [(0, 1), (4, 5)])
    assert anchor("Q a Q", "Q", start=4, before=None, after=None).status == "kept"
