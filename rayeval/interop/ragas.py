"""ragas evaluation datasets: JSON Lines, JSON, CSV, Parquet.

Mapping. `user_input` (older: `question`) is the question, `reference` (`ground_truth`, or the one
of `ground_truths`) the reference answer. Each of `reference_contexts` is gold, by its text, and a
group of its own. `retrieved_contexts` (`contexts`) are the hits of the stage `retrieved`, best
first, with `retrieved_context_ids` as chunk ids; `response` (`answer`) is the answer. A
`question_id` column is taken; without one, the id is made of the question, as in a golden set.
`reference_context_ids` without `reference_contexts` are gold as whole documents; a question with
neither is unlabelled. Everything else, scores included, is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rayeval.ids import made_question_id
from rayeval.interop.imported import Imported
from rayeval.interop.parts import LABEL, Parts, imported, labelled, quotes
from rayeval.interop.reading import listed, records
from rayeval.interop.records import Record, RefusedError

NAME = "ragas"
FILES = "a ragas dataset: .jsonl, .json, .csv or .parquet"
LISTS = (
    "retrieved_contexts", "contexts", "reference_contexts", "retrieved_context_ids",
    "reference_context_ids", "ground_truths",
)  # fmt: skip
NOTES = ("`retrieved_contexts` became the stage `retrieved`",)
OF_GOLD = (
    "each of `reference_contexts` is gold by its text, and a group of its own (all are needed)",
    f"where there are no `reference_contexts`, {LABEL}",
)


def read(paths: Sequence[str]) -> Imported:
    """Questions with gold passages, what was retrieved, and answers."""
    kinds = (".jsonl", ".json", ".csv", ".parquet")
    return imported(
        lambda problems: records(paths, problems, kinds=kinds),
        _parts,
        notes=NOTES,
        of_gold=OF_GOLD,
        trace=True,
    )


def _parts(record: Record) -> Parts:
    record = _with_lists(record)
    if isinstance(record.get("user_input"), list):
        message = "`user_input` is a conversation; multi-turn samples have no retrieved contexts"
        raise RefusedError("unsupported", message)
    question = record.words("user_input", "question")
    evidence: list[dict[str, Any]] = quotes(record.texts("reference_contexts"))
    evidence = evidence or [{"source_id": n} for n in record.names("reference_context_ids")]
    row = {
        "question_id": record.name("question_id") or made_question_id(question),
        "question": question,
        "reference_answer": _reference(record),
        **labelled(evidence),
    }
    answer = record.text("response", "answer")
    return Parts(
        question=row,
        stages={"retrieved": _hits(record)},
        answer=None
        if answer is None
        else {"answer": answer, "context": record.texts("retrieved_contexts", "contexts")},
    )


def _with_lists(record: Record) -> Record:
    """The record, its lists being lists: CSV has them as text."""
    cells = {
        name: listed(value, name)
        for name in LISTS
        if isinstance(value := record.get(name), str)
    }  # fmt: skip
    return Record(record.file, record.line, {**record.value, **cells})


def _reference(record: Record) -> str | None:
    several = record.texts("ground_truths")
    if len(several) > 1:
        message = f"`ground_truths` holds {len(several)} answers, expected one"
        raise RefusedError("unsupported", message)
    return record.text("reference", "ground_truth") or next(iter(several), None)


def _hits(record: Record) -> list[dict[str, Any]] | None:
    """None where neither texts nor ids were kept."""
    has_texts = record.get("retrieved_contexts", "contexts") is not None
    texts: list[str] = record.texts("retrieved_contexts", "contexts")
    names = record.names("retrieved_context_ids")
    if not has_texts:
        return [{"chunk_id": name} for name in names] if names else None
    if names and len(names) != len(texts):
        message = f"{len(names)} `retrieved_context_ids` for {len(texts)} `retrieved_contexts`"
        raise RefusedError("wrong_length", message)
    if not names:
        return [{"text": text} for text in texts]
    return [{"chunk_id": n, "text": t} for n, t in zip(names, texts, strict=True)]
