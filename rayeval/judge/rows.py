"""Judgements as rows: what `judgements.parquet` holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from rayeval.answer_tables import JUDGED
from rayeval.tables import TEXT

ROWS = pa.schema([("question_id", TEXT), *list(JUDGED), ("error", TEXT)])
"""A row per (question_id, variant, repeat). A question with an `error` has one row of nothing
else."""


class Rows:
    """A stage: a column of JUDGEMENTS and beside it `….error` → ROWS. A question whose column is
    null without an error was not judged, and has no row."""

    def __init__(self, column: str) -> None:
        self.column = column

    def __call__(self, batch: pa.Table) -> pa.Table:
        """The rows of every question."""
        return pa.Table.from_pylist(list(self._rows(batch)), schema=ROWS)

    def _rows(self, batch: pa.Table) -> Iterator[dict[str, Any]]:
        for row in batch.to_pylist():
            error = row[f"{self.column}.error"]
            for judged in row[self.column] or ([{"error": error}] if error else []):
                yield {"question_id": row["question_id"], **judged}
