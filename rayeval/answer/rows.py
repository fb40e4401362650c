"""Answers as rows: what `answers.parquet` holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from rayeval.answer_tables import ANSWER
from rayeval.tables import TEXT

ROWS = pa.schema([("question_id", TEXT), *(f for f in ANSWER if f.name != "latency_ms")])
"""A row per (question_id, variant, repeat): ANSWER without its time (latency.parquet has it)."""


class Rows:
    """A stage: columns of answers, and beside each `….error`, → ROWS, by question and variant.

    columns: variant → its column. repeats: rows of a question that failed as a whole.
    """

    def __init__(self, columns: Mapping[str, str], repeats: int) -> None:
        self._columns, self._repeats = columns, repeats

    def __call__(self, batch: pa.Table) -> pa.Table:
        """The rows of every question."""
        return pa.Table.from_pylist(list(self._rows(batch)), schema=ROWS)

    def _rows(self, batch: pa.Table) -> Iterator[dict[str, Any]]:
        for row in batch.to_pylist():
            for variant, column in self._columns.items():
                answers = row[column]
                if answers is None and row[f"{column}.error"] is not None:
                    failed = {"variant": variant, "error": row[f"{column}.error"]}
                    answers = [{**failed, "repeat": number} for number in range(self._repeats)]
                for answer in answers or []:
                    yield {"question_id": row["question_id"], **answer}
