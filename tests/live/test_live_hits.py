"""What is a hit, and what is none."""

import math

import pytest

from rayeval.errors import RowError
from rayeval.hits import hits_of

SPAN = {"start_char": 3, "end_char": 9}


@pytest.mark.parametrize(
    ("found", "want"),
    [
        pytest.param([], [], id="nothing found"),
        pytest.param([{"chunk_id": 17}], [{"chunk_id": "17"}], id="a number for an id is its text"),
        pytest.param(["휴가", ""], [{"text": "휴가"}, {"text": ""}], id="plain strings are text"),
        pytest.param(
            [{"chunk_id": "a", "text": None, "score": 1}], [{"chunk_id": "a", "score": 1.0}],
            id="null equals absent, whole numbers are scores",
        ),
        pytest.param(
            [{"source_id": "d", **SPAN}], [{"source_id": "d", "spans": [SPAN]}],
            id="start and end are one span",
        ),
        pytest.param(
            [{"source_id": "d", "spans": [(20, 30), SPAN, (5, 12)]}],
            [{"source_id": "d", "spans": [{"start_char": 3, "end_char": 12},
                                          {"start_char": 20, "end_char": 30}]}],
            id="spans are sorted and joined where they overlap",
        ),
        pytest.param(
            [{"source_id": "d", "spans": [(0, 5), (5, 9)]}],
            [{"source_id": "d", "spans": [{"start_char": 0, "end_char": 5},
                                          {"start_char": 5, "end_char": 9}]}],
            id="spans that only touch stay two",
        ),
        pytest.param([{"source_id": "d"}], [{"source_id": "d"}], id="a whole document"),
        pytest.param(("a", "a"), [{"text": "a"}] * 2, id="the same text twice is two hits"),
        pytest.param(
            [{"chunk_id": n, "score": 1} for n in "ba"],
            [{"chunk_id": n, "score": 1.0} for n in "ba"], id="equal scores keep their order",
        ),
    ],
)  # fmt: skip
def test_what_is_a_hit(found, want):
    assert hits_of(found) == want


@pytest.mark.parametrize(
    ("found", "message"),
    [
        pytest.param(None, "expected a list of hits", id="nothing at all"),
        pytest.param("text", "expected a list of hits", id="one text"),
        pytest.param({"text": "a"}, "expected a list of hits", id="one hit"),
        pytest.param([7], "hit 1 is 7; expected the passage's text", id="a number"),
        pytest.param(["a", {}], "hit 2 says nothing", id="an empty mapping"),
        pytest.param([{"score": 1.0}], "hit 1 says nothing", id="only a score"),
        pytest.param([{"revision_id": "r"}], "hit 1 says nothing", id="only a revision"),
        pytest.param([{"chunk_id": "a"}, {"source_id": "a"}], "hits 1 and 2 are the same", id="an id of both kinds"),
        pytest.param([{"chunk": "a"}], "hit 1 has the field 'chunk'; known are chunk_id", id="a typo"),
        pytest.param([{"chunk_id": 1.5}], "chunk_id is 1.5; expected text", id="a broken number for an id"),
        pytest.param([{"chunk_id": True}], "chunk_id is True; expected text", id="true for an id"),
        pytest.param(
            [{"chunk_id": 17}, {"chunk_id": "17"}], "same chunk_id '17'", id="an id as number and as text"
        ),
        pytest.param([{"chunk_id": ""}], "chunk_id is empty", id="an empty id"),
        pytest.param(["\ud800"], "half of a surrogate pair", id="half a character"),
        pytest.param(
            [{"chunk_id": "a"}, "b", {"chunk_id": "a"}], "hits 1 and 3 are the same chunk_id 'a'",
            id="an id twice",
        ),
        pytest.param([{"source_id": "d"}] * 2, "are the same document 'd'", id="a document twice"),
        pytest.param([{"text": "a", "score": math.nan}], "score nan; expected a finite", id="NaN"),
        pytest.param([{"text": "a", "score": math.inf}], "expected a finite number", id="infinite"),
        pytest.param([{"text": "a", "score": "0.5"}], "expected a finite number", id="score in words"),
        pytest.param([{"text": "a", "score": True}], "expected a finite number", id="score true"),
        pytest.param(
            [{"text": "a", "score": 1}, {"text": "b", "score": 2}],
            "hit 2 has the score 2, more than hit 1 with 1", id="scores against the order",
        ),
        pytest.param(
            [{"text": "a", "score": 1}, {"text": "b"}], "hit 2 has no score, though others",
            id="scores in part",
        ),
        pytest.param([{"source_id": "d", "start_char": 0}], "start_char and end_char both", id="no end"),
        pytest.param([{"source_id": "d", "spans": []}], r"spans is \[\]", id="no spans"),
        pytest.param([{"source_id": "d", "spans": [(5, 5)]}], "has the span", id="an empty span"),
        pytest.param([{"source_id": "d", "spans": [(-1, 5)]}], "has the span", id="a negative one"),
        pytest.param([{"source_id": "d", "spans": [(0.0, 5)]}], "has the span", id="a broken one"),
        pytest.param([{"spans": [(0, 5)]}], "no source_id", id="spans of nothing"),
    ],
)  # fmt: skip
def test_what_is_no_hit(found, message):
    with pytest.raises(RowError, match=message):
        hits_of(found)
