"""New ids, label versions, near-duplicates, and evidence that a labeller adds."""

import polars as pl
import pytest

from rayeval.golden.contract import Row
from rayeval.golden.evidence import evidence_of
from rayeval.golden.grow import labelled, new_id, next_version
from rayeval.golden.problems import Report
from rayeval.golden.similar import near


def known(row):
    report = Report("g")
    found, complete = evidence_of(Row.model_validate(row), set(), report.at(1, "q"))
    assert complete and not report.problems
    return found


def groups(row):
    return {entry["evidence_id"]: entry["group_id"] for entry in known(row)}


def grown(row, relevance=3, group=None):
    place = {"source_id": "new.md", "start_char": 0, "end_char": 9}
    new_row, new = labelled(row, known(row), place, relevance=relevance, group=group, version="2")
    return new_row, new


FLAT = {"question": "q", "source_id": "a.md", "quote": "x"}
LISTED = {"question": "q", "evidence": [{"source_id": "a.md"}, {"source_id": "b.md"}]}
GROUPED = {"question": "q",
           "evidence": [{"evidence_id": "e2", "source_id": "a.md"}, {"source_id": "b.md",
                         "evidence_id": "e3"}],
           "evidence_groups": [{"group_id": "e4", "alternatives": ["e2", "e3"]}]}  # fmt: skip


@pytest.mark.parametrize(
    ("row", "group", "want"),
    [
        pytest.param(FLAT, None, {"e1": "e1", "e2": "e2"}, id="a new fact beside flat evidence"),
        pytest.param(FLAT, "e1", {"e1": "e1", "e2": "e1"}, id="an alternative names the group"),
        pytest.param(LISTED, "e2", {"e1": "e1", "e2": "e2", "e3": "e2"}, id="to the second"),
        pytest.param(LISTED, "e3", {"e1": "e1", "e2": "e2", "e4": "e3"}, id="a named new fact"),
        pytest.param(GROUPED, "e4", {"e2": "e4", "e3": "e4", "e5": "e4"}, id="to listed groups"),
        pytest.param(GROUPED, None, {"e2": "e4", "e3": "e4", "e5": "e5"}, id="no id twice"),
        pytest.param({"question": "q"}, None, {"e1": "e1"}, id="the first evidence"),
    ],
)
def test_labelled_evidence_joins_the_right_group(row, group, want):
    new_row, new = grown(row, group=group)
    assert groups(new_row) == want
    assert new["evidence_id"] == list(want)[-1]
    assert new_row["label_version"] == "2"
    assert "quote" not in new_row


def test_labelling_twice_goes_on_counting():
    row, _ = grown(FLAT, relevance=0)
    row, second = grown(row, group="e1")
    assert groups(row) == {"e1": "e1", "e2": "e2", "e3": "e1"}
    assert second["relevance"] == 3
    assert [entry["relevance"] for entry in known(row)] == [3, 0, 3]


def test_an_implied_group_keeps_its_name_when_another_has_taken_it():
    """Evidence e1 is called e1' where a group e1 is somebody else's; it stays so."""
    row = {"question": "q", "evidence": [{"source_id": "a"}, {"source_id": "b", "group_id": "e1"}]}
    assert groups(row) == {"e1": "e1'", "e2": "e1"}
    assert groups(grown(row, group="e1'")[0]) == {"e1": "e1'", "e2": "e1", "e3": "e1'"}


@pytest.mark.parametrize(
    ("versions", "want"),
    [
        pytest.param([], "2", id="no rows"),
        pytest.param([None, None], "2", id="none is named: that was 1"),
        pytest.param(["1", "10", "9", None], "11", id="numbers by value"),
        pytest.param(["v2", "v1"], "v3", id="a number at the end"),
        pytest.param(["2026-07", "2026-06"], "2026-08", id="zeros stay"),
        pytest.param(["draft"], "draft-2", id="a word"),
    ],
)
def test_next_version(versions, want):
    assert next_version(versions) == want
    assert want not in versions


def test_new_ids_never_clash():
    first = new_id("왜?", [])
    assert first == new_id("왜?", ["other"])
    second = new_id("왜?", [first])
    assert second == f"{first}-2"
    assert new_id("왜?", [first, second]) == f"{first}-3"


@pytest.mark.parametrize(
    ("question", "other", "is_near"),
    [
        pytest.param("How long are refunds?", "how long are REFUNDS", True, id="case and signs"),
        pytest.param(
            "장비 신청하면 며칠 걸리나요", "장비신청하면 며칠이나 걸리나요?", True, id="spacing"
        ),
        pytest.param("How long are refunds?", "Where is the office?", False, id="another"),
        pytest.param("ERR-4012", "ERR-4013", True, id="worth a second look"),
        pytest.param("?", "왜", False, id="signs alone"),
    ],
)
def test_near_questions(question, other, is_near):
    others = pl.DataFrame({"question_id": ["a", "b"], "question": [other, "zzz yyy xxx"]})
    assert near(question, others)["question_id"].to_list() == (["a"] if is_near else [])


def test_near_says_how_near():
    others = pl.DataFrame({"question_id": ["a", "b"], "question": ["abcd", "abcde"]})
    found = near("abcd", others, most=5)
    assert found["similarity"].to_list() == [1.0, 3 / 6]
