"""Sources that hits call otherwise than gold does: never a miss in silence."""

import json
from pathlib import Path

import polars as pl
import pytest

from rayeval.errors import DataError
from rayeval.execution.score.sources import otherwise

QUESTIONS = [
    {"question_id": "ko", "question": "휴가?",
     "evidence": [{"source_id": "docs/휴가.md", "quote": "열흘"}]},
    {"question_id": "en", "question": "Pay?",
     "evidence": [{"source_id": "docs/pay.md", "quote": "monthly"}]},
]  # fmt: skip
TEXTS = {"ko": "휴가는 열흘이다.", "en": "Paid monthly."}


def of(**sources):
    """A trace with a hit a question, with its text, of the source given."""
    return [{"question_id": q, "stages": {"search": [{"source_id": name, "text": TEXTS[q]}]}}
            for q, name in sources.items()]  # fmt: skip


def warnings(run):
    manifest = json.loads(Path(run.path, "manifest.json").read_text())
    return [said for said in manifest["warnings"] if "source" in said]


def test_a_trace_that_calls_every_source_otherwise_is_refused(scored):
    with pytest.raises(DataError, match=r"unknown_sources: none of the 2 sources of hits") as error:
        scored(QUESTIONS, of(ko="휴가.md", en="PAY.md"))
    assert "docs/pay.md and PAY.md, docs/휴가.md and 휴가.md. If they are" in str(error.value)


def test_one_that_is_called_otherwise_is_named(scored):
    run = scored(QUESTIONS, of(ko="docs/휴가.md", en="pay"))
    [said] = warnings(run)
    assert said.startswith("1 source of gold is in no hit") and "(docs/pay.md and pay)" in said
    assert dict(run.per_query.select("question_id", "recall@5").iter_rows()) == {"ko": 1, "en": 0}


def test_sources_of_which_gold_is_in_none_are_said(scored):
    [said] = warnings(scored(QUESTIONS, of(ko="1", en="2")))
    assert said.startswith("none of the 2 sources of hits (1, 2) is one of the 2 that gold is in")
    assert "differ" not in said


def test_nothing_is_said_of_sources_that_are_met_or_that_nobody_names(scored):
    assert warnings(scored(QUESTIONS, of(ko="docs/휴가.md", en="docs/other.md"))) == []
    nameless = [{**q, "evidence": [{"quote": q["evidence"][0]["quote"]}]} for q in QUESTIONS]
    assert warnings(scored(nameless, of(ko="휴가.md", en="pay.md"))) == []


@pytest.mark.parametrize(
    ("gold", "hit", "alike"),
    [
        ("a/b/leave.md", "leave.md", True),
        ("leave.md", "https://x.org/hr/leave.md", True),
        ("docs\\leave.md", "docs/leave.md", True),
        ("leave.md", "leave", True),
        ("doc-007", "doc-7", True),
        ("re\u0301sume\u0301", "Résumé", True),
        ("en/leave.md", "ko/leave.md", False),
        ("leave.en.md", "leave.ko.md", False),
        ("doc-7", "doc-8", False),
        ("v1.2", "v1", False),
    ],
)
def test_what_looks_alike(gold, hit, alike):
    said = list(otherwise(pl.Series([gold, "met"]), pl.Series([hit, "met"]), "t", touched=True))
    assert bool(said) == alike


def test_sources_that_nobody_has():
    none = pl.Series([], dtype=pl.String)
    for gold, hits in ((none, none), (pl.Series(["a"]), none), (none, pl.Series(["a"]))):
        assert list(otherwise(gold, hits, "t", touched=False)) == []
