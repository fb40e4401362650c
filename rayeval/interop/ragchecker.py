"""RAGChecker: `results[]` with `query, gt_answer, response, retrieved_context[]`.

Mapping. `gt_answer` is the reference answer, `response` the answer; `retrieved_context` (`doc_id,
text`) are the hits of the stage `retrieved`, best first. Where one `doc_id` has several texts
(RAGChecker's own example numbers each question's documents from 000) it names nothing and is left
out. The format has no gold passages: questions come without evidence (`labels: none`), to be
labelled. Claims and verdicts of checked files are not taken. Of the meta-evaluation files, a list
whose rows compare two systems, the questions are taken (`DATASET-QUERY_ID`), their answers are not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rayeval.errors import Problem
from rayeval.interop.imported import Imported
from rayeval.interop.parts import LABEL, Parts, imported
from rayeval.interop.reading import records
from rayeval.interop.records import Record, RefusedError
from rayeval.tables import UNLABELLED

NAME = "ragchecker"
FILES = "RAGChecker inputs or its meta-evaluation: .json"
OF_GOLD = (f"the format has no gold passages: {LABEL}",)
NOTES = (
    "`retrieved_context` became the stage `retrieved`; answers of paired systems are left out",
)


def read(paths: Sequence[str]) -> Imported:
    """Questions with reference answers, what was retrieved, and answers."""
    named = not _numbered(paths)
    left_out = "one `doc_id` has several texts, so ids were left out: hits are known by their text"
    return imported(
        lambda problems: _results(paths, problems),
        lambda record: _parts(record, named),
        notes=NOTES if named else [*NOTES, left_out],
        of_gold=OF_GOLD,
        trace=True,
    )


def _numbered(paths: Sequence[str]) -> bool:
    """Whether some `doc_id` has several texts: it numbers a question's documents."""
    texts: dict[Any, Any] = {}
    for result in _results(paths, []):
        listed = result.get("retrieved_context")
        for hit in listed if isinstance(listed, list) else ():
            told = hit if isinstance(hit, Mapping) else {}
            if texts.setdefault(str(told.get("doc_id")), told.get("text")) != told.get("text"):
                return True
    return False


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
