"""DeepEval test cases and goldens: JSON, JSON Lines.

Mapping. `input` is the question, `expected_output` the reference answer, `actual_output` the
answer. Each of `context` is gold by its text, and a group of its own; `retrieval_context` are the
hits of the stage `retrieved`, best first. The names of Confident AI (`expectedOutput`, …) are taken
too. CSV is not: its cells join passages by a character that the file doesn't name.
"""

from __future__ import annotations

from collections.abc import Sequence

from rayeval.ids import made_question_id
from rayeval.interop.imported import Imported
from rayeval.interop.parts import Parts, imported, quotes
from rayeval.interop.reading import records
from rayeval.interop.records import Record

NAME = "deepeval"
FILES = "DeepEval test cases: .json or .jsonl"
NOTES = (
    "each of `context` is gold by its text, and a group of its own (all are needed)",
    "`retrieval_context` became the stage `retrieved`",
)


def read(paths: Sequence[str]) -> Imported:
    """Questions with gold passages, what was retrieved, and answers."""
    return imported(
        lambda problems: records(paths, problems, kinds=[".json", ".jsonl"]),
        _parts, notes=NOTES, trace=True,
    )  # fmt: skip


def _parts(record: Record) -> Parts:
    question = record.words("input")
    retrieved = ("retrieval_context", "retrievalContext")
    row = {
        "question_id": made_question_id(question),
        "question": question,
        "reference_answer": record.text("expected_output", "expectedOutput"),
        "evidence": quotes(record.texts("context")),
    }
    answer = record.text("actual_output", "actualOutput")
    texts = record.texts(*retrieved)
    known = record.get(*retrieved) is not None
    return Parts(
        question=row,
        stages={"retrieved": [{"text": text} for text in texts] if known else None},
        answer=None if answer is None else {"answer": answer, "context": texts},
    )
