"""The handbook keeps its word: what its README counts and what a golden set must hold."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from datetime import date
from typing import Any

import pytest
from samples_handbook_files import (
    ALL_EVIDENCE,
    AS_OF,
    CURRENT,
    DOCUMENTS,
    HANDBOOK,
    QUESTIONS,
    SOURCES,
    SPLITS,
    cell,
    count,
    document_of,
    gold_groups,
    places,
)

FRONT_MATTER = {
    "source_id", "revision_id", "title", "url", "language", "valid_from", "valid_to", "deleted_at",
    "access", "format",
}  # fmt: skip
QUESTION = {
    "question_id", "question", "language", "answerable", "reference_answer", "evidence",
    "evidence_groups", "required_aspects", "slices", "origin", "created_from", "validated", "split",
    "asked_at", "principals", "label_version",
}  # fmt: skip
EVIDENCE = {
    "evidence_id", "group_id", "aspects", "source_id", "revision_id", "quote", "start_char",
    "end_char", "spans", "element_id", "cell", "relevance",
}  # fmt: skip


def test_documents_have_plain_front_matter_and_realistic_size():
    for document in DOCUMENTS:
        assert set(document.meta) <= FRONT_MATTER, document.path
        assert {"title", "language", "valid_from"} <= set(document.meta), document.path
        assert 600 <= len(document.text) <= 8000, document.path
        assert "\r" not in document.text, document.path


def test_documents_are_of_every_kind():
    assert len(SOURCES) >= 28
    assert Counter(d.path.suffix for d in DOCUMENTS).keys() == {".md", ".txt", ".html"}
    languages = Counter(d.meta["language"] for d in DOCUMENTS)
    assert languages.keys() == {"ko", "en"}
    assert min(languages.values()) >= 0.4 * len(DOCUMENTS)
    for sign in ("\n### ", "\n|---|", "<table>", "\n```", "<pre>", "\n- ", "<li>"):
        assert any(sign in d.text for d in DOCUMENTS), sign


def test_history_of_the_documents():
    assert sum(len(revisions) >= 2 for revisions in SOURCES.values()) >= 4
    assert sum(d.deleted for d in DOCUMENTS) == 2
    assert sum("access" in d.meta for d in CURRENT.values()) == 3
    assert any(not d.started for d in DOCUMENTS), "a revision that is not valid yet"
    for revisions in SOURCES.values():
        assert len({d.text for d in revisions.values()}) == len(revisions)
        assert len({d.path for d in revisions.values()}) == len(revisions)


def test_questions_keep_the_contract():
    assert [q["question_id"] for q in QUESTIONS] == [
        f"q-{n:03d}" for n in range(1, len(QUESTIONS) + 1)
    ]
    for q in QUESTIONS:
        assert set(q) <= QUESTION, q["question_id"]
        assert q["split"] in SPLITS
        assert q["label_version"] == "1"
        assert q["created_from"].startswith(q["origin"] + ": ")
        assert q["validated"] == (q["origin"] != "synthetic")
        assert bool(re.search("[가-힣]", q["question"])) == (q["language"] == "ko"), q[
            "question_id"
        ]
        assert q["answerable"] == bool(gold_groups(q)), q["question_id"]
        assert q["answerable"] == bool(q.get("reference_answer")), q["question_id"]
        assert q["answerable"] != ("unanswerable" in q["slices"])
        assert q["slices"] == sorted(set(q["slices"]))
        assert date.fromisoformat(q.get("asked_at", "2026-07-31")) < AS_OF
    assert len({q["question"] + q["split"] for q in QUESTIONS}) == len(QUESTIONS)


def test_there_are_enough_questions_of_every_kind():
    assert len(QUESTIONS) >= 140
    assert count(language="ko") >= len(QUESTIONS) / 2
    assert count(language="en") >= 0.4 * len(QUESTIONS)
    assert count(slices="multi_hop") >= 18
    assert count(answerable=False) >= 24
    assert {q["origin"] for q in QUESTIONS} == {"log", "expert", "synthetic"}
    for split, least in zip(SPLITS, (60, 50, 25), strict=True):
        assert count(split=split) >= least
        for language in ("ko", "en"):
            assert count(split=split, language=language) >= 0.3 * count(split=split)
        for name in ("exact_identifier", "table", "number_date", "paraphrase", "multi_hop",
                     "alternatives", "version", "access", "unanswerable", "cut_subject"):  # fmt: skip
            assert count(split=split, slices=name) >= 2, (split, name)


def test_slices_say_what_the_evidence_shows():
    several_documents = 0
    for q in QUESTIONS:
        groups = gold_groups(q)
        assert ("multi_hop" in q["slices"]) == (len(groups) >= 2), q["question_id"]
        several = any(len(g) > 1 or len(places(g[0])) > 1 for g in groups)
        if "multi_hop" not in q["slices"]:
            assert ("alternatives" in q["slices"]) == several, q["question_id"]
        several_documents += any(len(set().union(*map(places, g))) > 1 for g in groups)
        old = any(
            "source_id" in e and document_of(e) is not CURRENT[e["source_id"]]
            for e in q["evidence"]
        )
        assert not old or "version" in q["slices"] or "multi_hop" in q["slices"], q["question_id"]
        restricted = any(
            "access" in document_of(e).meta for g in groups for e in g if "source_id" in e
        )
        assert ("access" in q["slices"]) == restricted, q["question_id"]
        aspects = {a for e in q["evidence"] for a in e.get("aspects", [])}
        assert set(q.get("required_aspects", [])) == aspects, q["question_id"]
    assert several_documents >= 10


def test_some_ask_for_what_they_may_not_see():
    def forbidden(q: dict[str, Any]) -> bool:
        lists = [
            document_of(e).meta.get("access", [])
            for g in gold_groups(q)
            for e in g
            if "source_id" in e
        ]
        return bool(lists) and all(a and not set(a) & set(q.get("principals", [])) for a in lists)

    refused = Counter(q["split"] for q in QUESTIONS if forbidden(q))
    assert all(refused[split] >= 1 for split in SPLITS)
    assert sum(refused.values()) < count(slices="access"), "some may see them"


def test_no_source_is_labelled_in_two_splits():
    splits = defaultdict(set)
    for q in QUESTIONS:
        for evidence in q["evidence"]:
            for source in places(evidence):
                splits[source].add(q["split"])
    assert {source: names for source, names in splits.items() if len(names) > 1} == {}
    assert set(splits) == set(CURRENT), "every document that is valid now is asked about"


@pytest.mark.parametrize(("question_id", "evidence"), ALL_EVIDENCE)
def test_evidence_is_found_in_its_document(question_id: str, evidence: dict[str, Any]):
    assert set(evidence) <= EVIDENCE
    assert evidence["relevance"] in (0, 1, 2, 3)
    quote = evidence.get("quote")
    if "source_id" not in evidence:
        assert places(evidence)
        return
    text = document_of(evidence).text
    body = text.index("---\n", 4) + 4
    if quote is not None:
        assert text.count(quote) == 1
        assert text.index(quote) >= body, "front matter is no evidence"
        assert 9 <= len(quote) <= 200
        assert not re.search(r"&\w+;|<\w+", quote)
        assert quote == quote.strip()
    if "start_char" in evidence:
        assert text[evidence["start_char"] : evidence["end_char"]] == quote
    for span in evidence.get("spans", []):
        assert body <= span["start_char"] < span["end_char"] <= len(text)
    if "element_id" in evidence:
        assert cell(text, evidence["element_id"], evidence["cell"])


def test_cells_hold_the_answer():
    cells = {
        (e["source_id"], e["cell"]): cell(document_of(e).text, e["element_id"], e["cell"])
        for _, e in ALL_EVIDENCE
        if "cell" in e
    }
    assert cells == {
        ("finance/travel.md", "r2c3"): "160,000원",
        ("it/accounts.md", "r3c3"): "secrets rotate every 180 days",
        ("benefits", "r3c2"): "1,400,000",
        ("people/salary-bands.md", "r5c2"): "78–102",
        ("people/overtime.md", "r3c3"): "19:30–07:30",
        ("people/payroll-calendar-2026.md", "r3c2"): "매월 15일과 말일",
        ("it/equipment.md", "r4c3"): "64 GB",
        ("warranty", "r2c2"): "36",
        ("facilities/offices.md", "r4c3"): "3-12",
        ("engineering/api-errors.md", "r3c2"): "600",
    }


def test_every_way_to_point_at_evidence_is_used():
    evidence = [e for _, e in ALL_EVIDENCE]
    assert sum("start_char" in e for e in evidence) >= 15
    assert sum("spans" in e for e in evidence) == 1
    assert sum(e.keys() == {"source_id", "relevance"} for e in evidence) == 2, "whole documents"
    assert sum("source_id" not in e for e in evidence) == 3
    assert sum("evidence_groups" in q for q in QUESTIONS) >= 3
    assert Counter(e["relevance"] for e in evidence).keys() == {0, 1, 2, 3}


def test_the_readme_counts_right():
    table = re.findall(
        r"^\| `?([\w ]+?)`? \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$",
        (HANDBOOK / "README.md").read_text(encoding="utf-8"),
        flags=re.MULTILINE,
    )
    fields = {"Korean": {"language": "ko"}, "English": {"language": "en"}, "questions": {},
              "answerable": {"answerable": True}}  # fmt: skip
    fields |= {origin: {"origin": origin} for origin in ("log", "expert", "synthetic")}
    slices = {name for q in QUESTIONS for name in q["slices"]}
    assert {name for name, *_ in table} == fields.keys() | slices
    for name, *numbers in table:
        wanted = fields.get(name, {"slices": name})
        expected = [count(**wanted, split=split) for split in SPLITS]
        assert [int(n) for n in numbers] == [*expected, sum(expected)], name
