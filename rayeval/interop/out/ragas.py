"""A run's last stage as a ragas evaluation dataset."""

from __future__ import annotations

import polars as pl

from rayeval.interop.out.exported import Exported, put_lines


def write_ragas(run: Exported, folder: str) -> list[str]:
    """Writes ragas.jsonl, a row per question; returns its name.

    `retrieved_contexts` are the hits of the run's last stage; `reference_contexts` the quotes of
    gold evidence.
    """
    last = (
        run.hits.filter(pl.col("stage") == run.hits["stage"].last()) if len(run.hits) else run.hits
    )
    found = last.join(run.passages, on="chunk_id", how="left", maintain_order="left")
    lists = found.group_by("question_id", maintain_order=True).agg("chunk_id", "text")
    table = run.questions.join(lists, on="question_id", how="left", maintain_order="left")
    rows = (
        {
            "user_input": row["question"],
            "retrieved_contexts": row["text"] or [],
            "retrieved_context_ids": row["chunk_id"] or [],
            "reference_contexts": row["quotes"],
            "reference": row["reference_answer"],
            "question_id": row["question_id"],
        }
        for row in table.iter_rows(named=True)
    )
    return [put_lines(folder, "ragas.jsonl", rows)]
