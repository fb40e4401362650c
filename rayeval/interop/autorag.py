"""AutoRAG: `qa.parquet` and `corpus.parquet`; a node's result file too.

Mapping. `retrieval_gt` is a list of lists of passage ids: each inner list is a group whose members
are alternatives, all groups are needed; a flat list is one passage per group (AutoRAG's "and"), a
text one passage, an empty list an unanswerable question. The first of `generation_gt` is the
reference answer. A file with `doc_id` and `contents` is a corpus, each row a document. Where a row
has `retrieved_ids` (a node's result), they are the hits of the stage `retrieved`, with
`retrieved_contents` and `retrieve_scores`; a hybrid node's `…_lexical` and `…_semantic` are the
stages `lexical` and `semantic`, and what it made of them `fused`. `generated_texts` is the answer,
`prompts` what the model was sent.
"""

from __future__ import annotations

from collections.abc import Sequence

from rayeval.interop.imported import Imported
from rayeval.interop.parts import Parts, Row, imported
from rayeval.interop.reading import records
from rayeval.interop.records import Record, RefusedError

NAME = "autorag"
FILES = "qa.parquet (or a node's result), and corpus.parquet"
OF_GOLD = (
    "`retrieval_gt`: each inner list is a group of alternatives, all groups are needed",
    "of several `generation_gt` the first is the reference answer",
)


def read(paths: Sequence[str]) -> Imported:
    """Questions with gold passages, the passages, and what a node retrieved."""
    return imported(
        lambda problems: records(paths, problems, kinds=[".parquet"]),
        _parts,
        of_gold=OF_GOLD,
        documents=True,
        trace=True,
    )


def _parts(record: Record) -> Parts:
    if record.get("doc_id") is not None:
        document = {"source_id": record.id("doc_id"), "text": record.given("contents")}
        return Parts(documents=[document])
    evidence = _evidence(record)
    answers = record.get("generation_gt")
    row = {
        "question_id": record.id("qid"),
        "question": record.words("query"),
        "reference_answer": answers
        if isinstance(answers, str)
        else next(iter(record.texts("generation_gt")), None),
        "answerable": bool(evidence),
        "evidence": evidence,
    }
    answer, sent = record.text("generated_texts"), record.text("prompts")
    return Parts(
        question=row,
        stages=_stages(record),
        answer=None if answer is None else {"answer": answer, "context": [sent] if sent else None},
    )


def _evidence(record: Record) -> list[Row]:
    if "retrieval_gt" not in record.value:
        raise RefusedError("missing_field", "`retrieval_gt` is missing, expected lists of ids")
    given = record.get("retrieval_gt")
    outer = [given] if isinstance(given, str) else record.items("retrieval_gt")
    evidence: list[Row] = []
    for number, inner in enumerate(outer, start=1):
        group = Record(
            record.file, record.line, {"gt": inner if isinstance(inner, list) else [inner]}
        )
        for name in group.names("gt"):
            evidence.append({"group_id": f"g{number}", "source_id": name})
    return evidence


def _stages(record: Record) -> dict[str, list[Row] | None]:
    arms = {arm: _hits(record, f"_{arm}") for arm in ("lexical", "semantic")}
    joined = all(hits is not None for hits in arms.values())
    return {**arms, "fused" if joined else "retrieved": _hits(record, "")}


def _hits(record: Record, arm: str) -> list[Row] | None:
    fields = (f"retrieved_contents{arm}", f"retrieve_scores{arm}")
    if record.get(f"retrieved_ids{arm}") is None:
        return None
    names = record.names(f"retrieved_ids{arm}")
    texts, scores = (record.items(field) for field in fields)
    for field, values in zip(fields, (texts, scores), strict=True):
        if values and len(values) != len(names):
            message = f"{len(values)} `{field}` for {len(names)} `retrieved_ids{arm}`"
            raise RefusedError("wrong_length", message)
    rows = [
        Record(record.file, record.line, {"text": text, "score": score})
        for text, score in zip(
            texts or [None] * len(names), scores or [None] * len(names), strict=True
        )
    ]
    return [
        {"source_id": name, "text": row.text("text"), "score": row.number("score")}
        for name, row in zip(names, rows, strict=True)
    ]
