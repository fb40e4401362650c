"""What a judge decided in a run, an item per verdict, as people can be asked about it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from rayeval.calibration.labels import Scale
from rayeval.errors import ConfigError

SCALES = {
    "support": ("contradicted", "not_in_context", "supported"),
    "reference": ("contradicted", "not_in_reference", "supported"),
    "citations": ("unsupported", "supported"),
    "correctness": ("incorrect", "partial", "correct"),
    "relevance": ("0", "1", "2", "3"),
}
"""Task → its verdicts, the worst first."""
ORDINAL = frozenset({"correctness", "relevance"})
"""Tasks whose verdicts are steps of one thing."""
AGAINST_REFERENCE = frozenset({"correctness", "reference"})
"""Tasks that compare with the reference answer; the others look at passages."""
POSITIVE = {"relevance": "2"}
"""Task → the verdict from which on an item counts as positive; elsewhere the best one."""
SCHEMA: dict[str, Any] = {
    "item_id": pl.String,
    "request": pl.String,
    "question_id": pl.String,
    "question": pl.String,
    "reference_answer": pl.String,
    "answer": pl.String,
    "text": pl.String,
    "chunks": pl.List(pl.String),
    "verdict": pl.String,
    "variant": pl.String,
    "repeat": pl.Int64,
    "cluster": pl.String,
    "language": pl.String,
}


def scale_of(task: str) -> Scale:
    """The verdicts of a task as a scale. Raises ConfigError for a task without any."""
    if task not in SCALES:
        raise ConfigError(f"task {task!r}: expected one of {', '.join(SCALES)}")
    return Scale(SCALES[task], task in ORDINAL)


def items_of(
    judgements: pl.DataFrame, answers: pl.DataFrame, questions: pl.DataFrame, task: str
) -> pl.DataFrame:
    """A row of SCHEMA per verdict of a task, in order of item ids.

    judgements, answers, questions: a run's tables. An item's id names task, question, variant,
    repeat and number, so the same verdict has the same id however often items are drawn; and it
    begins with a word, which no spreadsheet computes. `request` is the same for the verdicts of
    which people would be asked the same: on one claim beside one context, said in every repeat.
    """
    known = questions.select("question_id", "question", "reference_answer", "cluster", "language")
    said = answers.select("question_id", "variant", "repeat", "answer", "context")
    rows = judgements.filter(pl.col("variant").is_not_null()).join(
        said, on=["question_id", "variant", "repeat"], how="left"
    )
    rows = rows.join(known, on="question_id", how="left")
    found = [
        {**item, **_of(row), "item_id": f"{task}/{_place(row)}/{number}",
         "request": _request(row, item, task)}
        for row in rows.iter_rows(named=True)
        for number, item in enumerate(_items(row, task))
        if item["verdict"] is not None
    ]  # fmt: skip
    return pl.DataFrame(found, schema=SCHEMA).sort("item_id")


def _of(row: Mapping[str, Any]) -> dict[str, Any]:
    names = ("question_id", "question", "reference_answer", "answer", "variant", "repeat",
             "language")  # fmt: skip
    return {name: row[name] for name in names} | {"cluster": row["cluster"] or row["question_id"]}


def _place(row: Mapping[str, Any]) -> str:
    return f"{row['question_id']}/{row['variant']}/{row['repeat']}"


def _request(row: Mapping[str, Any], item: Mapping[str, Any], task: str) -> str:
    """An id of what is asked: the question, and all that a verdict of the task rests on."""
    against = row["reference_answer"] if task in AGAINST_REFERENCE else item["chunks"]
    said = json.dumps([item["text"], against], ensure_ascii=True)
    return f"{task}/{row['question_id']}/{hashlib.sha256(said.encode()).hexdigest()[:12]}"


def _items(row: Mapping[str, Any], task: str) -> Iterator[dict[str, Any]]:
    """text, chunks and verdict of each thing that was judged."""
    if task == "correctness":
        yield {"text": row["answer"], "chunks": [], "verdict": row["correctness"]}
    elif task == "relevance":
        for one in row["relevance"] or ():
            grade = None if one["grade"] is None else str(one["grade"])
            yield {"text": None, "chunks": [one["chunk_id"]], "verdict": grade}
    else:
        field = {"support": "support", "reference": "reference", "citations": "cited"}[task]
        for claim in row["claims"] or ():
            chunks = claim["citations"] if task == "citations" else row["context"]
            yield {"text": claim["text"], "chunks": chunks or [], "verdict": claim[field]}


def as_labels(items: pl.DataFrame) -> pl.DataFrame:
    """The judge's verdicts as a table of labels (`interop.labels`)."""
    return items.select(
        "item_id",
        label="verdict",
        annotator=pl.lit(None, pl.String),
        cluster="cluster",
        language="language",
        slice=pl.lit(None, pl.String),
        author=pl.lit(None, pl.String),
        inclusion_probability=pl.lit(None, pl.Float64),
        sample=pl.lit(None, pl.String),
        line=pl.lit(None, pl.Int64),
    )
