"""CLAP NQ: questions with one passage, and the sentences that people chose for their answers.

Mapping. The passage is a document, called by its title and a hash of its text. An annotator's
chosen sentences together are one piece of evidence, by offsets; the annotators' choices are
alternatives in one group. An annotator who chose none is left out. Questions of which nobody chose
any are unanswerable; a chosen sentence that the passage does not hold exactly once is refused. The
first answer is the reference answer.
"""

from __future__ import annotations

from collections.abc import Sequence

from rayeval.interop.imported import Imported
from rayeval.interop.parts import Parts, Row, imported
from rayeval.interop.passages import passage_id
from rayeval.interop.reading import records
from rayeval.interop.records import Record, RefusedError
from rayeval.words import plural

NAME = "clapnq"
FILES = "CLAP NQ annotated data: .jsonl"
NOTES = (
    "an annotator's sentences are one piece of evidence; annotators are alternatives in one group",
    "questions without chosen sentences became unanswerable",
)


def read(paths: Sequence[str]) -> Imported:
    """Questions with gold sentences, and their passages as documents."""
    return imported(
        lambda problems: records(paths, problems, kinds=[".jsonl"]),
        _parts, notes=NOTES, documents=True,
    )  # fmt: skip


def _parts(record: Record) -> Parts:
    passages = record.objects("passages")
    if len(passages) != 1:
        raise RefusedError("unsupported", f"`passages` holds {len(passages)}, expected one")
    title, text = passages[0].words("title"), passages[0].words("text")
    source = passage_id(title, text)
    evidence: list[Row] = []
    for output in record.objects("output"):
        spans = [_span(text, sentence) for sentence in output.texts("selected_sentences")]
        entry = {"group_id": "g1", "source_id": source, "spans": spans}
        evidence += [entry] if spans and entry not in evidence else []
    answers = [output.text("answer") for output in record.objects("output")]
    row = {
        "question_id": record.id("id"),
        "question": record.words("input"),
        "answerable": bool(evidence),
        "reference_answer": next((a for a in answers if a), None),
        "evidence": evidence,
    }
    return Parts(question=row, documents=[{"source_id": source, "title": title, "text": text}])


def _span(text: str, sentence: str) -> Row:
    if text.count(sentence) != 1:
        message = (
            f"sentence {sentence[:60]!r} stands {plural(text.count(sentence), 'time')} in the "
            f"passage"
        )
        raise RefusedError("ambiguous_sentence", message)
    start = text.index(sentence)
    return {"start_char": start, "end_char": start + len(sentence)}
