"""SQuAD 1 and 2, KorQuAD 1, COVID-QA: `data[].paragraphs[].qas[]`.

Mapping. A paragraph's `context` is a document, called by its `document_id`, else by the article's
title and the paragraph's number. All answers of a question are alternatives in one group, each with
its offsets and its text, which must agree: `answer_start` counts code points, as Python wrote it.
`is_impossible` questions are unanswerable; their plausible answers are left out. The first answer
is the reference answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rayeval.errors import Problem
from rayeval.interop.imported import Imported
from rayeval.interop.parts import Parts, Row, imported
from rayeval.interop.reading import records
from rayeval.interop.records import Record, RefusedError

NAME = "squad"
FILES = "a SQuAD-like .json file (SQuAD 1 and 2, KorQuAD 1, COVID-QA)"
NOTES = (
    "a question's answers are alternatives in one group, with their offsets and texts",
    "`is_impossible` became unanswerable",
)


def read(paths: Sequence[str]) -> Imported:
    """Questions with gold spans, and the paragraphs as documents."""
    return imported(
        lambda problems: _paragraphs(paths, problems), _parts, notes=NOTES, documents=True
    )


def _paragraphs(paths: Sequence[str], problems: list[Problem]) -> Iterator[Record]:
    """A record per question, its paragraph beside it; paragraphs without questions too."""
    for file in records(paths, problems, kinds=[".json"]):
        try:
            for article in file.objects("data"):
                for number, paragraph in enumerate(article.objects("paragraphs"), start=1):
                    source = paragraph.name("document_id") or f"{article.id('title')}#{number}"
                    text = paragraph.words("context")
                    document = {"source_id": source, "text": text}
                    for qa in paragraph.objects("qas") or [paragraph.inner({}, paragraph.path)]:
                        yield Record(qa.file, qa.line, {**qa.value, "document": document}, qa.path)
        except RefusedError as error:
            problems.append(file.problem(error))


def _parts(record: Record) -> Parts:
    document: Row = record.value["document"]
    if len(record.value) == 1:
        return Parts(documents=[document])
    impossible = record.get("is_impossible") is True
    answers = [] if impossible else record.objects("answers")
    if not impossible and not answers:
        message = f"`{record.path}answers` is empty, though the question is not `is_impossible`"
        raise RefusedError("missing_field", message)
    evidence: list[Row] = []
    for answer in answers:
        start, text = answer.whole("answer_start"), answer.words("text")
        place = {"start_char": start, "end_char": start + len(text), "quote": text}
        entry = {"group_id": "g1", "source_id": document["source_id"], **place}
        if entry not in evidence:
            evidence.append(entry)
    row = {
        "question_id": record.id("id"),
        "question": record.words("question"),
        "answerable": not impossible,
        "reference_answer": next((e["quote"] for e in evidence), None),
        "evidence": evidence,
    }
    return Parts(question=row, documents=[document])
