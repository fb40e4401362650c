"""Questions dealt out by what they share."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rayeval.errors import ConfigError
from rayeval.golden.leakage import leakage
from rayeval.golden.shared import values
from rayeval.golden.split import by_time, dealt, groups

RATIOS = {"train": 60.0, "dev": 20.0, "test": 20.0}
TIES = st.lists(st.tuples(st.integers(0, 9), st.sampled_from("abcdefg")), max_size=20)


def table(pairs):
    return pl.DataFrame(pairs, schema={"row": pl.Int64, "value": pl.String}, orient="row")


def test_ties_run_through_questions_of_several_sources():
    found = groups(table([(0, "a"), (1, "a"), (1, "b"), (2, "b"), (3, "c")]), 5)
    assert len({found[0], found[1], found[2]}) == 1
    assert len({found[0], found[3], found[4]}) == 3


@given(TIES)
def test_who_shares_a_value_shares_a_group(pairs):
    found = groups(table(pairs), 10)
    assert found.shape == (10,)
    for row, value in pairs:
        assert all(found[row] == found[other] for other, its in pairs if its == value)
    alone = set(range(10)) - {row for row, _ in pairs}
    assert all((found == found[row]).sum() == 1 for row in alone)


@given(st.lists(st.text(max_size=5), max_size=20), st.lists(st.text(max_size=5), max_size=20))
def test_new_groups_move_no_old_ones(old, new):
    assert dealt([*old, *new], RATIOS, seed=1)[: len(old)] == dealt(old, RATIOS, seed=1)


def test_shares_are_met_and_seeds_differ():
    names = [f"doc-{n}" for n in range(10_000)]
    first, other = dealt(names, RATIOS, seed=1), dealt(names, RATIOS, seed=2)
    assert abs(first.count("train") - 6000) < 200
    assert abs(first.count("test") - 2000) < 160
    assert np.mean([a == b for a, b in zip(first, other, strict=True)]) < 0.5


@pytest.mark.parametrize(
    ("days", "want"),
    [
        pytest.param([3, 1, 2, 5, 4], ["train", "train", "train", "test", "dev"], id="in any order"),
        pytest.param([1, 1, 1, 1, 2], ["train"] * 4 + ["test"], id="one moment stays together"),
        pytest.param([], [], id="none"),
        pytest.param([7], ["train"], id="one"),
    ],
)  # fmt: skip
def test_by_time(days, want):
    start = datetime(2026, 1, 1, tzinfo=UTC)
    assert by_time([start + timedelta(days=day) for day in days], RATIOS) == want


@pytest.mark.parametrize(
    ("by", "rows", "want"),
    [
        pytest.param("source", [{"evidence": [{"source_id": "a"}, {"source_id": "b", "relevance": 1}]},
                                {"answerable": False, "evidence": [{"source_id": "b", "relevance": 0}]}],
                     [(0, "a"), (1, "b")], id="the gold's source, else any"),
        pytest.param("tenant", [{"principals": ["tenant:x", "all"]}, {"principals": ["all"]}],
                     [(0, "tenant:x")], id="a named tenant"),
        pytest.param("tenant", [{"principals": ["b", "a"]}, {"principals": ["a", "b"]}],
                     [(0, "a\0b"), (1, "a\0b")], id="else all principals"),
        pytest.param("entity", [{"question": "price of pn-2299?"}, {"question": "PN-2299 in 5 days"}],
                     [(0, "PN-2299"), (1, "PN-2299")], id="codes"),
        pytest.param("entity", [{"slices": ["entity:acme"]}, {"question": "PN-2299"}],
                     [(0, "entity:acme")], id="named entities go first"),
        pytest.param("language", [{"language": "ko"}, {}], [(0, "ko")], id="a field"),
        pytest.param("topic", [{"slices": ["topic:a", "x"]}, {"slices": ["topic:a"]}],
                     [(0, "topic:a"), (1, "topic:a")], id="slices of that name"),
    ],
)  # fmt: skip
def test_values(load, by, rows, want):
    defaults = {"question": "x", "answerable": False}
    given_ = [{**defaults, "question_id": f"q{n}"} | row for n, row in enumerate(rows)]
    given_ = [row | {"answerable": True} if any(e.get("relevance", 3) > 1 for e in row.get(
        "evidence", [])) else row for row in given_]  # fmt: skip
    questions, problems = load(*given_)
    assert problems == []
    assert values(questions, by).rows() == want


def test_a_template_is_the_question_but_for_numbers_and_codes(load):
    texts = ["What does PN-2299 cost?", "What does RX-17 cost?", "Where may visitors park?"]
    questions, _ = load(*(
        {"question_id": f"q{n}", "question": text, "answerable": False}
        for n, text in enumerate(texts)
    ))  # fmt: skip
    found = groups(values(questions, "template"), 3)
    assert found[0] == found[1] != found[2]


def test_nothing_to_split_by(load):
    questions, _ = load({"question": "x", "answerable": False})
    with pytest.raises(ConfigError, match="--by topic: no question has one"):
        values(questions, "topic")


def test_leakage(load):
    gold = {"evidence": [{"source_id": "s"}], "cluster": "c"}
    questions, _ = load(
        {"question_id": "a", "question": "How many days of leave?", "split": "dev", **gold},
        {"question_id": "b", "question": "How many days of leave!", "split": "test", **gold},
        {"question_id": "c", "question": "Where to park?", "split": "test", "answerable": False},
    )
    assert leakage(questions) == {
        "sources": {"count": 1, "questions": 2, "examples": ["s"]},
        "clusters": {"count": 1, "questions": 2, "examples": ["c"]},
        "near_duplicates": {"questions": 2, "examples": [["a", "b"]]},
    }
