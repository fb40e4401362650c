"""What a run's page says first: one sentence, and the questions behind it, worst first."""

from __future__ import annotations

import polars as pl

from rayeval.report.headline import Sentence, with_questions
from rayeval.words import plural


def run_sentence(failures: pl.DataFrame, ranks: pl.DataFrame) -> Sentence:
    """Which stage costs most.

    ranks: the gold ranks (report.gold.RANKS) by which the questions are ordered: what was nearest
    to the top before it was lost comes first.
    """
    n = failures.height
    if not n:
        return Sentence("No answerable question: nothing can be lost", ())
    failed = failures.filter(pl.col("status") == "failed")
    broken = failures.filter(pl.col("status").is_in(["error", "missing"]))
    if failed.is_empty() and broken.is_empty():
        return Sentence(f"No gold is lost in {plural(n, 'answerable question')}", ())
    if failed.is_empty():
        text = f"{broken.height} of {plural(n, 'question')} could not be processed"
        return with_questions(text, broken["question_id"].sort().to_list())
    best = ranks.group_by("question_id").agg(pl.col("rank").min())
    order = failed.join(best, on="question_id", how="left")
    order = order.sort("rank", "question_id", nulls_last=True)
    stages = failed.group_by("stage").len().sort("len", "stage", descending=[True, False])
    stage = stages["stage"][0]
    ids = order.filter(pl.col("stage") == stage)["question_id"].to_list()
    lose = "loses its gold" if len(ids) == 1 else "lose their gold"
    if stage == "answer":
        lose = "fails" if len(ids) == 1 else "fail"
    return with_questions(f"{len(ids)} of {plural(n, 'question')} {lose} at {stage}", ids)
