"""What became of evidence in a changed text (DESIGN §4)."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rayeval.golden.anchor import CONTEXT
from rayeval.golden.follow import follow


def evidence(**fields):
    empty = dict.fromkeys(["source_id", "revision_id", "spans", "quote", "element_id", "cell"])
    return {**empty, "source_id": "s", **fields}


def spans(*places):
    return [{"start_char": start, "end_char": end} for start, end in places]


def notes(text: str, *places):
    return [
        {"start_char": a, "end_char": b, "quote": text[a:b], "before": text[max(0, a - CONTEXT):a],
         "after": text[b : b + CONTEXT]}
        for a, b in places
    ]  # fmt: skip


NFC, NFD = (unicodedata.normalize(form, "연차는 5일이다. ") for form in ("NFC", "NFD"))


@pytest.mark.parametrize(
    ("old", "place", "new", "status", "places"),
    [
        pytest.param("one. 5 days.", (5, 11), "one. 5 days.", "kept", [(5, 11)], id="unchanged"),
        pytest.param("one. 5 days.", (5, 11), "so: one. 5 days.", "moved", [(9, 15)], id="moved"),
        pytest.param("A 5 days. B 5 days.", (12, 18), "X A 5 days. B 5 days.", "moved", [(14, 20)],
                     id="a repeated quote by its context"),
        pytest.param("A 5 days. B 5 days.", (2, 8), "X! 5 days? Y! 5 days?", "ambiguous",
                     [(3, 9), (14, 20)], id="a repeated quote without its context"),
        pytest.param("one. 5 days.", (5, 11), "one. six days.", "lost", [], id="lost"),
        pytest.param("a\nb 5\ndays c", (4, 10), "a\r\nb 5\r\ndays c", "normalised", [(5, 12)],
                     id="CRLF within the quote"),
        pytest.param("one 5 days", (4, 10), "\ufeffone 5 days", "moved", [(5, 11)], id="U+FEFF"),
        pytest.param("a 5 days", (2, 8), "😀😀 a 5 days", "moved", [(5, 11)], id="astral letters"),
        pytest.param(NFC, (4, 6), NFD, "normalised", [(9, 13)], id="NFD source, NFC gold"),
    ],
)  # fmt: skip
def test_offsets_with_notes(old, place, new, status, places):
    stated = evidence(spans=spans(place))
    here = [place] if place[1] <= len(new) else []
    found = follow(new, stated, notes(old, place), here)
    assert (found.status, found.places) == (status, places)


@pytest.mark.parametrize(
    ("stated", "located", "status", "places"),
    [
        pytest.param({"quote": "5 days"}, [(2, 8)], "kept", [(2, 8)], id="the quote is there"),
        pytest.param({"quote": "6 days"}, [], "lost", [], id="it is not"),
        pytest.param({"quote": "end"}, [], "ambiguous", [(9, 12), (13, 16)], id="it is twice"),
        pytest.param({"quote": "5 days", "spans": spans((0, 6))}, [], "moved", [(2, 8)],
                     id="wrong offsets"),
        pytest.param({"quote": "end", "spans": spans((0, 3))}, [], "ambiguous", [(9, 12), (13, 16)],
                     id="wrong offsets, the text's end is no context"),
        pytest.param({"quote": "end", "spans": spans((13, 16))}, [(13, 16)], "kept", [(13, 16)],
                     id="right offsets of a repeated quote"),
        pytest.param({"spans": spans((2, 8))}, [(2, 8)], "unchecked", [(2, 8)], id="offsets alone"),
        pytest.param({"spans": spans((2, 80))}, [], "lost", [], id="offsets outside"),
    ],
)  # fmt: skip
def test_without_notes(stated, located, status, places):
    found = follow("a 5 days end end", evidence(**stated), [], located)
    assert (found.status, found.places) == (status, places)


def test_several_spans_are_as_good_as_the_worst():
    old = "alpha. beta. gamma."
    kept, moved = (0, 5), (13, 18)
    found = follow("alpha. beta, then gamma.", evidence(spans=spans(kept, moved)),
                   notes(old, kept, moved), [kept, moved])  # fmt: skip
    assert (found.status, found.places) == ("moved", [(0, 5), (18, 23)])
    swapped = follow(
        "gamma. alpha.", evidence(spans=spans(kept, moved)), notes(old, kept, moved), []
    )
    assert swapped.status == "ambiguous"


@pytest.mark.parametrize(
    ("new", "located", "status"),
    [
        pytest.param("| a | b |", [(0, 9)], "kept", id="the same text"),
        pytest.param("x\n| a |  b |", [(2, 12)], "kept", id="elsewhere, other white space"),
        pytest.param("| a | c |", [(0, 9)], "lost", id="another text"),
        pytest.param("nothing", [], "lost", id="no such element"),
    ],
)
def test_elements(new, located, status):
    stated = evidence(element_id="table-1")
    assert follow(new, stated, notes("| a | b |", (0, 9)), located).status == status


TEXT = st.text(st.sampled_from("ab \n한é😀"), min_size=1, max_size=30)


@given(TEXT, TEXT, TEXT, st.data())
def test_what_is_found_says_the_quote(old, before, after, data):
    start = data.draw(st.integers(0, len(old) - 1))
    end = data.draw(st.integers(start + 1, len(old)))
    new = before + old + after
    found = follow(new, evidence(spans=spans((start, end))), notes(old, (start, end)), [])
    assert found.status != "lost"  # all of the old text is still there
    if found.status in ("kept", "moved"):
        [(a, b)] = found.places
        assert new[a:b] == old[start:end]
