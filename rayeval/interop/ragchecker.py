"""RAGChecker: `results[]` with `query, gt_answer, response, retrieved_context[]`.

Mapping. `gt_answer` is the reference answer, `response` the answer; `retrieved_context` (`doc_id,
text`) are the hits of the stage `retrieved`, best first. Where one `doc_id` has several texts
(RAGChecker's own example numbers each question's documents from 000) it names nothing and is left
out. The format has no gold passages: questions come without evidence (`labels: none`), to be
labelled. Claims and verdicts of checked files are judgements of the answers (interop/verdicts.py).
Of the meta-evaluation files, a list whose rows compare two systems, the questions are taken
(`DATASET-QUERY_ID`), their answers are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rayeval.errors import Problem
from rayeval.interop.imported import Imported
from rayeval.interop.parts import LABEL, Parts, imported
from rayeval.interop.reading import records
from rayeval.interop.records import Record, RefusedError
from rayeval.interop.verdicts import FIELDS, asked_of, verdict_tables
from rayeval.tables import UNLABELLED

NAME = "ragchecker"
FILES = "RAGChecker inputs or its meta-evaluation: .json"
OF_GOLD = (f"the format has no gold passages: {LABEL}",)
NOTES = (
    "`retrieved_context` became the stage `retrieved`; answers of paired systems are left out",
)
CHECKED = "claims and verdicts of RAGChecker's checker: only `score --format ragchecker` takes them"
LEFT_OUT = "one `doc_id` has several texts, so ids were left out: hits are known by their text"


def read(paths: Sequence[str]) -> Imported:
    """Questions with reference answers, what was retrieved, answers, and verdicts on them."""
    found = _found(paths)
    notes = [*NOTES, *([CHECKED] if found.asked else []), *([LEFT_OUT] if found.numbered else [])]
    given = imported(
        lambda problems: _results(paths, problems),
        lambda record: _parts(record, not found.numbered),
        notes=notes,
        of_gold=OF_GOLD,
        trace=True,
    )
    if not found.asked:
        return given
    results = _results(paths, given.problems)
    return replace(given, verdicts=verdict_tables(results, found.asked, given.problems))


@dataclass(frozen=True)
class Found:
    """What is so of the files as a whole."""

    numbered: bool
    """Some `doc_id` has several texts: it numbers a question's documents."""
    asked: Sequence[str]
    """The fields with verdicts that some result has."""


def _found(paths: Sequence[str]) -> Found:
    texts: dict[Any, Any] = {}
    numbered, asked = False, set[str]()
    for result in _results(paths, []):
        asked |= asked_of(result)
        listed = result.get("retrieved_context")
        for hit in listed if isinstance(listed, list) and not numbered else ():
            told = hit if isinstance(hit, Mapping) else {}
            said = texts.setdefault(str(told.get("doc_id")), told.get("text"))
            numbered = numbered or said != told.get("text")
    return Found(numbered, [name for name in FIELDS if name in asked])


def _results(paths: Sequence[str], problems: list[Problem]) -> Iterator[Record]:
    """The rows; of a comparison each question once, however many people judged it."""
    seen: set[tuple[str, str, str]] = set()
    for record in records(paths, problems, kinds=[".json"]):
        try:
            for result in record.objects("results") if "results" in record.value else [record]:
                if "model1" in result.value:
                    key = (result.id("dataset"), result.id("query_id"), result.words("query"))
                    if key in seen:
                        continue
                    seen.add(key)
                yield result
        except RefusedError as error:
            problems.append(record.problem(error))


def _parts(record: Record, named: bool) -> Parts:
    name = record.id("query_id")
    if "model1" in record.value:
        name = f"{record.id('dataset')}-{name}"
    row = {
        "question_id": name,
        "question": record.words("query"),
        "reference_answer": record.text("gt_answer") or None,
        "labels": UNLABELLED,
    }
    known = record.get("retrieved_context") is not None
    hits = [
        {"chunk_id": hit.name("doc_id") if named else None, "text": hit.text("text")}
        for hit in record.objects("retrieved_context")
    ]
    answer = record.text("response") or None
    texts = [hit["text"] for hit in hits if hit["text"] is not None]
    return Parts(
        question=row,
        stages={"retrieved": hits if known else None},
        answer=None if answer is None else {"answer": answer, "context": texts},
    )
