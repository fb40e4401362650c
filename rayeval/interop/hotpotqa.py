"""HotpotQA and 2WikiMultihopQA: questions with paragraphs and supporting facts.

Mapping. A paragraph of `context` is a document called by its title; its text is its sentences, with
a space where one doesn't begin with white space. Each of `supporting_facts` (title, sentence) is
gold with its offsets, without the white space around it, and a group of its own: all are needed.
`answer` is the reference answer. The columns of the Hugging Face form are taken too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rayeval.interop.imported import Imported
from rayeval.interop.parts import Parts, Row, imported
from rayeval.interop.reading import records
from rayeval.interop.records import Record, RefusedError

NAME = "hotpotqa"
FILES = "HotpotQA or 2WikiMultihopQA questions: .json, .jsonl or .parquet"
NOTES = ("each supporting fact is gold, and a group of its own (all are needed)",)


def read(paths: Sequence[str]) -> Imported:
    """Questions with gold sentences, and their paragraphs as documents."""
    kinds = (".json", ".jsonl", ".parquet")
    return imported(
        lambda problems: records(paths, problems, kinds=kinds),
        _parts, notes=NOTES, documents=True,
    )  # fmt: skip


def _parts(record: Record) -> Parts:
    paragraphs = {
        title: record.inner({"sentences": told}, title).texts("sentences")
        for title, told in _pairs(record, "context", "sentences")
    }
    evidence: list[Row] = []
    for at, (title, number) in enumerate(_pairs(record, "supporting_facts", "sent_id")):
        fact = f"`supporting_facts[{at}]`"
        sentences = paragraphs.get(title)
        if sentences is None:
            message = f"{fact} names {title!r}, which is no paragraph of `context`"
            raise RefusedError("unknown_source", message)
        if type(number) is not int or not 0 <= number < len(sentences):
            message = f"{fact} is sentence {number!r} of {title!r}, which has {len(sentences)}"
            raise RefusedError("unknown_sentence", message)
        entry = _place(title, sentences, number)
        if entry not in evidence:
            evidence.append(entry)
    row = {
        "question_id": record.id("_id", "id"),
        "question": record.words("question"),
        "reference_answer": record.text("answer"),
        "evidence": evidence,
    }
    documents = [{"source_id": t, "title": t, "text": _joined(s)} for t, s in paragraphs.items()]
    return Parts(question=row, documents=documents)


def _pairs(record: Record, field: str, second: str) -> list[tuple[str, Any]]:
    """(title, what belongs to it) as a list of pairs, or as an object of two lists."""
    value = record.get(field)
    if isinstance(value, dict):
        both = record.inner(value, field)
        titles, others = both.texts("title"), both.items(second)
        if len(titles) != len(others):
            raise record.wrong(field, value, "as many titles as the rest")
        return list(zip(titles, others, strict=True))
    pairs = record.items(field)
    for pair in pairs:
        if not isinstance(pair, list) or len(pair) != 2:
            raise record.wrong(field, pair, "pairs that begin with a title")
    titles = record.inner({field: [title for title, _ in pairs]}, "titles").texts(field)
    return list(zip(titles, (other for _, other in pairs), strict=True))


def _joined(sentences: list[str]) -> str:
    text = ""
    for sentence in sentences:
        apart = text and sentence and not sentence[0].isspace() and not text[-1].isspace()
        text += f" {sentence}" if apart else sentence
    return text


def _place(title: str, sentences: list[str], number: int) -> Row:
    """Where the sentence stands in the paragraph's text, without white space around it."""
    quote = sentences[number].strip()
    end = len(_joined(sentences[: number + 1]).rstrip())
    start = end - len(quote)
    return {"source_id": title, "start_char": start, "end_char": end, "quote": quote}
