"""The golden set's contract, and every way to break it."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

import pytest

from rayeval.golden.load import in_splits
from rayeval.tables import QUESTIONS

EVIDENCE = {"source_id": "a.md"}


def asked(**fields):
    return {"question_id": "q", "question": "Why?", "evidence": [EVIDENCE], **fields}


def test_the_shape_that_users_write_by_hand(load):
    table, problems = load(
        {
            "question_id": "q-1", "question": "며칠 걸려요?", "answerable": True,
            "reference_answer": "5일",
            "evidence": [
                {"source_id": "a.md", "revision_id": "r1", "page": 2, "start_char": 5,
                 "end_char": 9, "relevance": 3},
                {"source_id": "b.md", "quote": "5일"},
                {"evidence_id": "third", "source_id": "c.md", "spans": [
                    {"start_char": 8, "end_char": 9}, {"start_char": 1, "end_char": 4},
                    {"start_char": 3, "end_char": 6}, {"start_char": 6, "end_char": 7}]},
            ],
            "evidence_groups": [{"group_id": "days", "alternatives": ["e1", "third"]}],
            "required_aspects": ["days"], "slices": ["it"], "created_from": "Log: search, July",
            "label_version": 3, "history": ["hello", {"role": "user", "content": "hi"}],
        }
    )  # fmt: skip
    assert problems == []
    assert table.schema == QUESTIONS
    row = table.to_pylist()[0]
    spans = [[(s["start_char"], s["end_char"]) for s in e["spans"] or []] for e in row["evidence"]]
    assert spans == [[(5, 9)], [], [(1, 7), (8, 9)]]
    assert [e["group_id"] for e in row["evidence"]] == ["days", "e2", "days"]
    assert [e["relevance"] for e in row["evidence"]] == [3, 3, 3]
    assert row["evidence"][1]["spans"] is None
    assert row["history"] == [{"role": None, "content": "hello"}, {"role": "user", "content": "hi"}]
    assert (row["origin"], row["labels"], row["validated"]) == ("log", "partial", False)
    assert (row["label_version"], row["line"], row["split"]) == ("3", 1, None)


@pytest.mark.parametrize(
    ("created_from", "origin"),
    [
        pytest.param("synthetic", "synthetic", id="the name alone"),
        pytest.param("EXPERT interview", "expert", id="in any case"),
        pytest.param("report-17", "report", id="before a hyphen"),
        pytest.param("synthetic_llm", "synthetic", id="before an underscore"),
        pytest.param("unknown", "unknown", id="unknown is a name too"),
    ],
)
def test_origin_by_how_created_from_begins(load, created_from, origin):
    table, problems = load(asked(created_from=created_from))
    assert (table["origin"].to_pylist(), problems) == ([origin], [])


@pytest.mark.parametrize("created_from", ["login page", "customers", ""])
def test_an_unknown_origin_is_a_warning(load, created_from):
    table, problems = load(asked(created_from=created_from))
    assert table["origin"].to_pylist() == ["unknown"]
    assert [(p.kind, p.warning) for p in problems] == [("unknown_origin", True)]


def test_a_stated_origin_is_not_doubted(load):
    table, problems = load(asked(origin="expert", created_from="my head"))
    assert (table["origin"].to_pylist(), problems) == (["expert"], [])


def test_null_equals_absent(load):
    fields = ("language", "answerable", "history", "evidence_groups", "slices", "labels", "split")
    full, problems = load(
        asked(**dict.fromkeys(fields), evidence=[{**EVIDENCE, "relevance": None, "spans": None}])
    )
    bare, _ = load(asked())
    assert problems == []
    assert full.equals(bare)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        pytest.param("2026-08-01", datetime(2026, 8, 1, tzinfo=UTC), id="a day begins it"),
        pytest.param("2026-08-01T09:30:00", datetime(2026, 8, 1, 9, 30, tzinfo=UTC), id="no zone"),
        pytest.param("2026-08-01T09:30:00+09:00", datetime(2026, 8, 1, 0, 30, tzinfo=UTC), id="a zone"),
        pytest.param("2026-08-01T09:30:00Z", datetime(2026, 8, 1, 9, 30, tzinfo=UTC), id="Z"),
    ],
)  # fmt: skip
def test_asked_at(load, text, want):
    table, problems = load(asked(asked_at=text))
    assert (table["asked_at"].to_pylist(), problems) == ([want], [])


def test_ids_of_questions_without_one(load):
    rows = [{"question": q, "answer": "x", "quote": "y"} for q in ("cafe\u0301", "한국")]
    table, problems = load(*rows)
    want = {f"q-{hashlib.sha256(q.encode()).hexdigest()[:12]}" for q in ("caf\u00e9", "한국")}
    assert (set(table["question_id"].to_pylist()), problems) == (want, [])
    assert table["reference_answer"].to_pylist() == ["x", "x"]
    evidence = table["evidence"].to_pylist()[0]
    assert [(e["evidence_id"], e["quote"], e["source_id"]) for e in evidence] == [("e1", "y", None)]


def test_questions_are_sorted_by_the_bytes_of_their_ids(load):
    ids = ["b", "a", "B", "가", "é", "😀", "\uffff"]
    table, _ = load(*(asked(question_id=name) for name in ids))
    assert table["question_id"].to_pylist() == sorted(ids, key=str.encode)


def test_splits(load):
    rows = [asked(question_id=s or "none", split=s) for s in ("dev", "test", "train", None)]
    table, _ = load(*rows)
    assert in_splits(table, None).equals(table)
    assert in_splits(table, ["train", "dev"])["split"].to_pylist() == ["dev", "train"]
    assert in_splits(table, []).num_rows == 0


def test_own_groups_never_meet_named_ones(load):
    table, problems = load(asked(evidence=[{**EVIDENCE, "group_id": "e2"}, EVIDENCE]))
    assert problems == []
    assert [e["group_id"] for e in table["evidence"].to_pylist()[0]] == ["e2", "e2'"]


PROBLEMS = [
    pytest.param(asked(answerabel=True), "unknown_field", "`answerabel`", "'answerable'", id="typo"),
    pytest.param(
        asked(evidence=[EVIDENCE, {**EVIDENCE, "relevence": 2}]),
        "unknown_field", "`evidence[1].relevence`", "'relevance'", id="typo in evidence",
    ),
    pytest.param(
        asked(evidence=[{**EVIDENCE, "spans": [{"start": 1, "start_char": 1, "end_char": 2}]}]),
        "unknown_field", "`evidence[0].spans[0].start`", "'start_char'", id="typo in a span",
    ),
    pytest.param(
        asked(history=[{"content": "x", "rolle": "user"}]),
        "unknown_field", "`history[0].rolle`", "'role'", id="typo in a turn",
    ),
    pytest.param({"question_id": "q", "answerable": False}, "missing_field", "`question`", "", id="no question"),
    pytest.param(asked(question=" \n"), "empty_question", "", "", id="blank question"),
    pytest.param(asked(question_id=1.5), "wrong_type", "`question_id` is the number 1.5", "expected text", id="a fraction as id"),
    pytest.param(asked(answerable="yes"), "wrong_type", "`answerable` is the text 'yes'", "true or false", id="text as truth"),
    pytest.param(asked(slices=["a", " "]), "empty_slice", "", "", id="a slice without a name"),
    pytest.param(asked(slices=["forbidden"]), "reserved_slice", "'forbidden'", "rename", id="the slice of what is forbidden"),
    pytest.param(asked(slices=["language:ko"]), "reserved_slice", "'language:ko'", "set the field", id="the slice of a language"),
    pytest.param(asked(slices=["synthetic_unvalidated"]), "reserved_slice", "", "", id="the slice that is outside means"),
    pytest.param(asked(slices="a"), "wrong_type", "`slices`", "a list", id="text as list"),
    pytest.param(asked(slices=["a", None]), "wrong_type", "`slices[1]` is null", "text", id="null in a list"),
    pytest.param(asked(evidence=["a.md"]), "wrong_type", "`evidence[0]`", "an object", id="text as evidence"),
    pytest.param(asked(asked_at="yesterday"), "bad_date", "'yesterday'", "ISO", id="no date"),
    pytest.param(asked(origin="logs"), "unknown_origin", "'logs'", "'log'", id="origin"),
    pytest.param(asked(split="prod"), "unknown_split", "'prod'", "'dev'", id="split"),
    pytest.param(asked(labels="full"), "unknown_labels", "'full'", "'complete'", id="labels"),
    pytest.param(["q"], "wrong_type", "the record is the list", "an object", id="a list as record"),
    pytest.param(None, "wrong_type", "the record is null", "an object", id="null as record"),
    pytest.param(asked(evidence=[{**EVIDENCE, "start_char": 5, "end_char": 5}]), "empty_span", "[5, 5)", "", id="empty span"),
    pytest.param(asked(evidence=[{**EVIDENCE, "spans": []}]), "empty_span", "", "", id="no spans"),
    pytest.param(asked(evidence=[{**EVIDENCE, "start_char": 9, "end_char": 5}]), "inverted_span", "[9, 5)", "", id="inverted span"),
    pytest.param(asked(evidence=[{**EVIDENCE, "start_char": -1, "end_char": 5}]), "negative_offset", "[-1, 5)", "", id="negative offset"),
    pytest.param(asked(evidence=[{**EVIDENCE, "start_char": 1}]), "missing_field", "`end_char`", "", id="half a span"),
    pytest.param(asked(evidence=[{**EVIDENCE, "start_char": 1.5, "end_char": 2}]), "wrong_type", "1.5", "a whole number", id="half a character"),
    pytest.param(asked(evidence=[{**EVIDENCE, "start_char": 0, "end_char": 2**71}]), "wrong_type", "end_char", "", id="beyond 64 bits"),
    pytest.param(asked(evidence=[{"quote": "x", "start_char": 1, "end_char": 2}]), "missing_field", "`source_id`", "", id="offsets into nothing"),
    pytest.param(asked(evidence=[{"page": 3}]), "missing_field", "`source_id`", "`quote`", id="evidence that says nothing"),
    pytest.param(asked(evidence=[{**EVIDENCE, "cell": "r1c1"}]), "missing_field", "`element_id`", "", id="a cell of nothing"),
    pytest.param(asked(evidence=[{**EVIDENCE, "quote": " "}]), "empty_quote", "", "", id="blank quote"),
    pytest.param(asked(evidence=[{**EVIDENCE, "source_id": ""}]), "missing_field", "`evidence[0].source_id` is empty", "", id="empty id"),
    pytest.param(asked(evidence=[{**EVIDENCE, "relevance": 4}]), "relevance_out_of_range", "4", "0, 1, 2 or 3", id="relevance 4"),
    pytest.param(asked(evidence=[{**EVIDENCE, "relevance": -1}]), "relevance_out_of_range", "-1", "0, 1, 2 or 3", id="relevance -1"),
    pytest.param(asked(quote="x"), "field_twice", "`quote`", "`evidence`", id="evidence in two ways"),
    pytest.param(asked(answer="x", reference_answer="y"), "field_twice", "`answer`", "", id="two answers"),
    pytest.param(asked(answerable=False), "unanswerable_with_gold", "", "", id="unanswerable with gold"),
    pytest.param(asked(evidence=[]), "answerable_without_evidence", "", "", id="answerable without any"),
    pytest.param(asked(evidence=[{**EVIDENCE, "relevance": 0}]), "answerable_without_evidence", "", "", id="answerable, irrelevant"),
    pytest.param(
        asked(evidence=[{**EVIDENCE, "evidence_id": "e2"}, EVIDENCE]),
        "duplicate_evidence_id", "'e2'", "", id="a name that counting gives too",
    ),
    pytest.param(
        asked(evidence_groups=[{"group_id": "g", "alternatives": ["e1", "f1"]}]),
        "unknown_alternative", "'f1'", "e1", id="alternative that isn't there",
    ),
    pytest.param(
        asked(evidence_groups=[{"group_id": g, "alternatives": ["e1"]} for g in "gh"]),
        "evidence_in_two_groups", "'g' and 'h'", "", id="two groups",
    ),
    pytest.param(
        asked(evidence=[{**EVIDENCE, "group_id": "g"}],
              evidence_groups=[{"group_id": "h", "alternatives": ["e1"]}]),
        "evidence_in_two_groups", "'g' and 'h'", "", id="a group of its own and another",
    ),
    pytest.param(asked(evidence_groups=[{"group_id": "g", "alternatives": []}]), "missing_field", "alternatives", "", id="a group of none"),
    pytest.param(asked(evidence_groups=[{"alternatives": ["e1"]}]), "missing_field", "`evidence_groups[0].group_id`", "", id="a group without name"),
]  # fmt: skip


@pytest.mark.parametrize(("row", "kind", "found", "expected"), PROBLEMS)
def test_one_problem(load, row, kind, found, expected):
    good = asked(question_id="good")
    table, problems = load(good, row)
    assert [p.kind for p in problems] == [kind]
    assert problems[0].line == 2
    assert found in problems[0].message
    assert expected in problems[0].message
    assert "good" in table["question_id"].to_pylist()


def test_labelled_negatives_are_fine(load):
    _, problems = load(asked(answerable=False, evidence=[{**EVIDENCE, "relevance": 1}]))
    assert problems == []


@pytest.mark.parametrize(
    ("relevant", "kinds"),
    [
        pytest.param(1, ["unanswerable_with_gold"], id="1 is gold"),
        pytest.param(2, [], id="1 is a negative"),
    ],
)
def test_what_is_gold_is_configured(load, relevant, kinds):
    row = asked(answerable=False, evidence=[{**EVIDENCE, "relevance": 1}])
    assert [p.kind for p in load(row, relevant=relevant)[1]] == kinds


GRADED = [asked(question_id=f"q{best}", evidence=[{**EVIDENCE, "relevance": best}])
          for best in (1, 2, 3)]  # fmt: skip


@pytest.mark.parametrize(
    ("relevant", "labels", "said"),
    [
        pytest.param(1, ["partial"] * 3, None, id="all have gold"),
        pytest.param(2, ["none", "partial", "partial"], "1 of 3 questions has evidence, but none of relevance 2 or more, e.g. q1", id="1 is not gold"),
        pytest.param(3, ["none", "none", "partial"], "with `score --relevant 1`", id="the flag that helps all"),
    ],
)  # fmt: skip
def test_where_gold_begins_makes_no_question_unanswerable(load, relevant, labels, said):
    table, problems = load(*GRADED, relevant=relevant)
    assert table["answerable"].to_pylist() == [True] * 3
    assert table["labels"].to_pylist() == labels
    assert [(p.kind, p.warning) for p in problems] == [("below_relevant", True)] * bool(said)
    assert said is None or said in problems[0].message


def test_evidence_of_an_unanswerable_question_is_not_to_be_graded_away(load):
    row = asked(answerable=False, evidence=[{**EVIDENCE, "relevance": 1}])
    [problem] = load(row, relevant=1)[1]
    assert "if that answers it, drop `answerable: false`" in problem.message
    assert "--relevant" in problem.message


def test_duplicate_ids_name_both_lines(load):
    _, problems = load(asked(), asked(), asked(question_id="other"), asked())
    assert [(p.kind, p.line, p.question_id) for p in problems] == [
        ("duplicate_question_id", 2, "q"),
        ("duplicate_question_id", 4, "q"),
    ]
    assert all("line 1" in p.message for p in problems)


def test_all_problems_of_a_row_at_once(load):
    _, problems = load(
        asked(
            anserable=True, split="prod", slices=[1], answer="x", reference_answer="y",
            evidence=[
                {**EVIDENCE, "start_char": 3, "end_char": 1, "quote": " "},
                {**EVIDENCE, "relevance": 9, "quot": "x"},
                "a.md",
            ],
        )
    )  # fmt: skip
    assert sorted(p.kind for p in problems) == [
        "empty_quote", "field_twice", "inverted_span", "relevance_out_of_range", "unknown_field",
        "unknown_field", "unknown_split", "wrong_type", "wrong_type",
    ]  # fmt: skip
    assert {p.question_id for p in problems} == {"q"}


def test_what_is_wrong_with_evidence_is_not_said_again_of_the_question(load):
    _, problems = load(asked(evidence=[{**EVIDENCE, "relevance": 9}]))
    assert [p.kind for p in problems] == ["relevance_out_of_range"]


def test_whole_numbers_may_have_a_point(load):
    table, problems = load(asked(evidence=[{**EVIDENCE, "start_char": 1.0, "end_char": 3.0}]))
    assert problems == []
    assert table["evidence"].to_pylist()[0][0]["spans"] == [{"start_char": 1, "end_char": 3}]
