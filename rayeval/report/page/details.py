"""What a question's own page shows: gold in its source, and every stage's hits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from rayeval.report.page.passages import AROUND, Passages
from rayeval.report.page.replies import add_replies
from rayeval.report.tables import Tables

ALL = 2_000
"""Up to so many questions, every one has a page; of more, those that matter most."""
SOME = 500
TOP = 5
"""Hits that are shown of a stage, besides those that hold gold."""
PLACED = ("chunk_id", "source_id", "revision_id", "spans")
EVIDENCE = ("evidence_id", "group_id", "source_id", "revision_id", "quote", "relevance", "gold",
            "whole", "found")  # fmt: skip


def details(
    run: Tables, ids: Sequence[str], ranks: pl.DataFrame, passages: Passages
) -> dict[str, Any]:
    """question id → its evidence, failure, hits by stage, gold ranks and answers, for `ids`.

    ranks: report.gold.RANKS of at least these questions. passages: takes in the texts.
    """
    questions = run.rows("questions", "question_id", ids).sort("question_id")
    evidence = _located(questions)
    hits = _hits(run, ids)
    first = hits.filter(pl.col("rank") <= TOP).select("question_id", "chunk_id")
    wanted = pl.concat([first, _overlapping(run, hits, evidence)]).unique()
    shown = hits.join(wanted, on=["question_id", "chunk_id"], how="semi")
    passages.add(run, sorted({*shown["chunk_id"], *_near(run, evidence)}), evidence)
    found = {row["question_id"]: _asked(row) for row in questions.iter_rows(named=True)}
    _add_hits(found, run, shown, passages)
    for name, group, stage, rank in ranks.iter_rows():
        if name in found:
            found[name]["ranks"].setdefault(group, {})[stage] = rank
    for row in run.rows("failures", "question_id", ids).iter_rows(named=True):
        found[row["question_id"]]["contributing"] = row["contributing"]
    add_replies(found, run, passages, evidence)
    return found


def _asked(row: Mapping[str, Any]) -> dict[str, Any]:
    """What is known of a question before any stage ran."""
    return {
        "evidence": [_evidence(item) for item in row["evidence"]],
        "answer": row["reference_answer"],
        "answerable": row["answerable"] is not False,
        "partial": row["labels"] != "complete",
        "stages": {},
        "ranks": {},
        "contributing": [],
    }


def _add_hits(
    found: Mapping[str, Any], run: Tables, shown: pl.DataFrame, passages: Passages
) -> None:
    """Every stage that ran, with its hits [passage, rank, score] in order."""
    trace = run.rows("trace", "question_id", list(found)).filter(pl.col("stage") != "filter")
    counts = trace.select("question_id", "stage", "error", n=pl.col("hits").list.len())
    for name, stage, error, n in counts.iter_rows():
        found[name]["stages"][stage] = {"n": n or 0, "error": error, "hits": []}
    for name, stage, chunk, rank, score in shown.iter_rows():
        found[name]["stages"][stage]["hits"].append([passages[chunk], rank, score])


def _hits(run: Tables, ids: Sequence[str]) -> pl.DataFrame:
    """`question_id, stage, chunk_id, rank, score`, in order."""
    trace = run.rows("trace", "question_id", ids).filter(pl.col("stage") != "filter")
    rows = trace.select("question_id", "stage", "hits").explode("hits").drop_nulls("hits")
    rows = rows.with_columns(rank=pl.int_range(1, pl.len() + 1).over("question_id", "stage"))
    hit = pl.col("hits").struct
    return rows.select(
        "question_id", "stage", hit.field("chunk_id"), "rank", hit.field("score")
    )  # fmt: skip


def _located(questions: pl.DataFrame) -> pl.DataFrame:
    """`question_id, source_id, revision_id, start, end`, a row per span of evidence."""
    rows = questions.select("question_id", "evidence").explode("evidence").drop_nulls("evidence")
    part = pl.col("evidence").struct
    rows = rows.select(
        "question_id", part.field("source_id"), part.field("revision_id"), part.field("spans")
    )
    return _spread(rows)


def _spread(rows: pl.DataFrame) -> pl.DataFrame:
    """`spans` as rows with `start` and `end`."""
    rows = rows.explode("spans").drop_nulls("spans")
    span = pl.col("spans").struct
    ends = {"start": span.field("start_char"), "end": span.field("end_char")}
    return rows.with_columns(**ends).drop("spans")


def _overlapping(run: Tables, hits: pl.DataFrame, evidence: pl.DataFrame) -> pl.DataFrame:
    """`question_id, chunk_id` of the hits that share text with evidence."""
    places = run.rows("passages", "chunk_id", hits["chunk_id"].unique().to_list(), PLACED)
    sources = evidence.select("source_id", "revision_id").unique()
    places = _spread(places.join(sources, on=["source_id", "revision_id"], how="semi"))
    pairs = hits.select("question_id", "chunk_id").unique().join(places, on="chunk_id")
    both = pairs.join(
        evidence, on=["question_id", "source_id", "revision_id"], suffix="_gold"
    ).filter(pl.col("start") < pl.col("end_gold"), pl.col("start_gold") < pl.col("end"))
    return both.select("question_id", "chunk_id").unique()


def _near(run: Tables, evidence: pl.DataFrame) -> list[str]:
    """The passages that hold evidence or stand beside it, by id."""
    sources = evidence["source_id"].drop_nulls().unique().to_list()
    places = _spread(run.rows("passages", "source_id", sources, PLACED))
    both = places.join(
        evidence.drop("question_id").unique(), on=["source_id", "revision_id"], suffix="_gold"
    ).filter(
        pl.col("start") < pl.col("end_gold") + AROUND, pl.col("start_gold") - AROUND < pl.col("end")
    )
    return both["chunk_id"].unique().to_list()


def _evidence(item: Mapping[str, Any]) -> dict[str, Any]:
    spans = [[span["start_char"], span["end_char"]] for span in item["spans"] or ()]
    return {**{name: item[name] for name in EVIDENCE}, "spans": spans}
