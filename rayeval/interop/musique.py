"""MuSiQue: questions over paragraphs of which some support the answer.

Mapping. A paragraph is a document, called by its title and a hash of its text, since titles repeat.
Every `is_supporting` paragraph is whole-document evidence and a group of its own: all are needed.
A question with `answerable: false` has no gold. `answer` is the reference answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from rayeval.interop.imported import Imported
from rayeval.interop.parts import Parts, Row, imported
from rayeval.interop.passages import passage_id
from rayeval.interop.reading import records
from rayeval.interop.records import Record

NAME = "musique"
FILES = "MuSiQue questions: .jsonl or .json"
NOTES = (
    "each supporting paragraph is gold, and a group of its own (all are needed)",
    "paragraphs are called by their title and a hash of their text",
)


def read(paths: Sequence[str]) -> Imported:
    """Questions with gold paragraphs, and all paragraphs as documents."""
    return imported(
        lambda problems: records(paths, problems, kinds=[".jsonl", ".json"]),
        _parts, notes=NOTES, documents=True,
    )  # fmt: skip


def _parts(record: Record) -> Parts:
    answerable = record.get("answerable") is not False
    evidence: list[Row] = []
    documents: list[Row] = []
    for paragraph in record.objects("paragraphs"):
        title, text = paragraph.words("title"), paragraph.words("paragraph_text")
        source = passage_id(title, text)
        documents.append({"source_id": source, "title": title, "text": text})
        if answerable and paragraph.get("is_supporting") is True:
            entry = {"source_id": source}
            evidence += [] if entry in evidence else [entry]
    row = {
        "question_id": record.id("id"),
        "question": record.words("question"),
        "answerable": answerable,
        "reference_answer": record.text("answer") if answerable else None,
        "evidence": evidence,
    }
    return Parts(question=row, documents=documents)
