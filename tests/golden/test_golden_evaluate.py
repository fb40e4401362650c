"""What is gold for whom: access, short gold, slices, clusters."""

from __future__ import annotations

import pytest

from rayeval.golden.evaluate import EVALUATED

TEXT = "# Desk\n\nRoom 42.\n\n## Phone\n\nCall 42 or 4242 at any time of the day or night.\n"


@pytest.fixture(scope="session")
def corpus(make_corpus):
    return make_corpus(
        {"source_id": "open", "text": TEXT},
        {"source_id": "hr", "text": "The budget is 7.", "access": ["hr", "boss"]},
        {"source_id": "board", "text": "The budget is 9.", "access": ["boss"]},
    )


@pytest.fixture
def evaluate(load, corpus):
    def evaluated(*rows, **settings):
        questions, problems = load(*rows)
        assert [p for p in problems if not p.warning] == []
        table = corpus.evaluate(questions, **settings)
        assert table.schema == EVALUATED
        return table.to_pylist()

    return evaluated


def test_access(evaluate):
    evidence = [{"source_id": name} for name in ("open", "hr", "board")]
    for principals, visible in (
        ([], [True, False, False]),
        (["hr"], [True, True, False]),
        (["x", "boss"], [True, True, True]),
        (["HR"], [True, False, False]),
    ):
        (row,) = evaluate({"question": "q", "principals": principals, "evidence": evidence})
        assert [e["visible"] for e in row["evidence"]] == visible
        assert [e["gold"] for e in row["evidence"]] == visible
        assert row["answerable"]


@pytest.mark.parametrize(
    ("row", "answerable", "forbidden"),
    [
        pytest.param({"evidence": [{"source_id": "hr"}]}, False, True, id="all gold is hidden"),
        pytest.param({"evidence": [{"source_id": "hr"}], "principals": ["hr"]}, True, False, id="seen"),
        pytest.param({"evidence": [{"source_id": "hr"}, {"source_id": "open"}]}, True, False, id="some gold is hidden"),
        pytest.param({"evidence": [{"source_id": "hr"}, {"source_id": "open", "relevance": 1}]}, False, True, id="what is seen is no gold"),
        pytest.param({"answerable": False, "evidence": [{"source_id": "hr", "relevance": 0}]}, False, False, id="a hidden negative"),
        pytest.param({"answerable": False}, False, False, id="never answerable"),
        pytest.param({"evidence": [{"source_id": "nowhere"}]}, True, False, id="a source that nobody has"),
        pytest.param({"evidence": [{"quote": "The budget is"}]}, False, True, id="hidden wherever it stands"),
    ],
)  # fmt: skip
def test_questions_whose_gold_is_hidden_are_unanswerable(evaluate, row, answerable, forbidden):
    (got,) = evaluate({"question": "q", **row})
    assert got["answerable"] == answerable
    assert ("forbidden" in got["slices"]) == forbidden
    assert f"answerable:{str(answerable).lower()}" in got["slices"]


@pytest.mark.parametrize(
    ("relevant", "gold"), [(1, [0, 1, 1, 1]), (2, [0, 0, 1, 1]), (3, [0, 0, 0, 1])]
)
def test_gold_by_relevance(evaluate, relevant, gold):
    evidence = [{"source_id": "open", "relevance": n} for n in range(4)]
    (row,) = evaluate({"question": "q", "evidence": evidence}, relevant=relevant)
    assert [e["gold"] for e in row["evidence"]] == gold


def test_slices_of_their_own_and_automatic_ones(evaluate):
    rows = evaluate(
        {
            "question_id": "1", "question": "q", "evidence": [{"source_id": "open"}],
            "slices": ["z", "a", "z", "language:ko"], "language": "ko", "split": "dev",
            "origin": "synthetic",
        },
        {
            "question_id": "2", "question": "q", "answerable": False, "origin": "synthetic",
            "validated": True,
        },
        {"question_id": "3", "question": "q", "answerable": False, "created_from": "log"},
    )  # fmt: skip
    assert [row["slices"] for row in rows] == [
        ["a", "answerable:true", "language:ko", "origin:synthetic", "split:dev",
         "synthetic_unvalidated", "z"],
        ["answerable:false", "origin:synthetic"],
        ["answerable:false", "origin:log"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("row", "cluster"),
    [
        pytest.param({"cluster": "mine", "evidence": [{"source_id": "open"}]}, "mine", id="its own"),
        pytest.param({"evidence": [{"source_id": "hr"}, {"source_id": "open"}]}, "open", id="the first gold's source"),
        pytest.param({"evidence": [{"source_id": "hr", "relevance": 1}, {"source_id": "open"}], "principals": ["hr"]}, "open", id="a negative is not gold"),
        pytest.param({"evidence": [{"quote": "budget"}], "principals": ["hr"]}, "hr", id="where its quote was found"),
        pytest.param({"evidence": [{"source_id": "gone"}]}, "gone", id="a source that is missing"),
        pytest.param({"answerable": False, "evidence": [{"source_id": "open", "relevance": 0}]}, "q", id="unanswerable"),
        pytest.param({"evidence": [{"source_id": "hr"}]}, "q", id="forbidden"),
    ],
)  # fmt: skip
def test_clusters(evaluate, row, cluster):
    (got,) = evaluate({"question_id": "q", "question": "Why?", **row})
    assert got["cluster"] == cluster


CALL = TEXT.index("Call")
PHONE = (TEXT.index("## Phone"), TEXT.index("## Phone") + len("## Phone"))


@pytest.mark.parametrize(
    ("start", "need", "want"),
    [
        pytest.param(CALL + 5, "heading", [PHONE], id="its heading"),
        pytest.param(TEXT.index("42"), "heading", [(0, 6)], id="the heading before"),
        pytest.param(PHONE[0] + 3, "heading", [PHONE], id="the heading that it stands in"),
        pytest.param(CALL + 5, "context", [(CALL - 27, CALL + 5), (CALL + 7, CALL + 39)], id="what is around"),
        pytest.param(0, "context", [(2, 34)], id="the text's beginning"),
        pytest.param(len(TEXT) - 2, "context", [(len(TEXT) - 34, len(TEXT) - 2)], id="the text's end"),
    ],
)  # fmt: skip
def test_short_gold_needs_more(evaluate, start, need, want):
    span = {"source_id": "open", "start_char": start, "end_char": start + 2}
    (row,) = evaluate({"question": "q", "evidence": [span]}, short_under=3, short_need=need)
    needs = [(s["start_char"], s["end_char"]) for s in row["evidence"][0]["needs"]]
    assert needs == want
    (row,) = evaluate({"question": "q", "evidence": [span]}, short_under=2, short_need=need)
    assert row["evidence"][0]["needs"] == []


def test_short_gold_without_a_heading_needs_none(evaluate):
    row = {"question": "q", "evidence": [{"source_id": "hr", "quote": "7"}], "principals": ["hr"]}
    (got,) = evaluate(row, short_under=12, short_need="heading")
    assert got["evidence"][0]["needs"] == []


def test_the_characters_of_several_spans_count_together(evaluate):
    spans = [{"start_char": 10, "end_char": 16}, {"start_char": 30, "end_char": 36}]
    evidence = [{"source_id": "open", "spans": spans}]
    (row,) = evaluate({"question": "q", "evidence": evidence}, short_under=12)
    assert row["evidence"][0]["needs"] == []
    (row,) = evaluate({"question": "q", "evidence": evidence}, short_under=13)
    assert row["evidence"][0]["needs"] != []


def test_rows_keep_their_order_and_their_fields(load, corpus):
    rows = [{"question_id": n, "question": n, "answerable": False, "history": ["x"]} for n in "abc"]
    questions, _ = load(*rows)
    turned = questions.take([2, 0, 1])
    got = corpus.evaluate(turned)
    for name in ("question_id", "question", "history", "file", "line", "asked_at"):
        assert got[name].to_pylist() == turned[name].to_pylist()


def test_no_questions_at_all(load, corpus):
    questions, _ = load()
    assert corpus.evaluate(questions, shards=2).num_rows == 0
