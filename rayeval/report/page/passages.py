"""The texts that the questions of a page share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from rayeval.report.tables import Tables

AROUND = 400
"""Characters of the source on either side of gold."""
CHARS = 1_500
"""Of one passage that a page holds."""


class Passages:
    """Texts that the questions of a page share, each once."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self._number: dict[str, int] = {}

    def add(self, run: Tables, ids: Sequence[str], evidence: pl.DataFrame) -> None:
        """Takes in passages of a run."""
        new = [name for name in ids if name not in self._number]
        found = run.rows("passages", "chunk_id", new).sort("chunk_id")
        starts = evidence.group_by("source_id", "revision_id").agg(pl.col("start").unique().sort())
        gold = {(row[0], row[1]): row[2] for row in starts.iter_rows()}
        for row in found.iter_rows(named=True):
            self._number[row["chunk_id"]] = len(self.rows)
            self.rows.append(_passage(row, gold.get((row["source_id"], row["revision_id"]), [])))

    def __getitem__(self, chunk_id: str) -> int:
        return self._number[chunk_id]

    def get(self, chunk_id: str) -> int | None:
        """Its number; None where the run has no such passage."""
        return self._number.get(chunk_id)


def _passage(row: Mapping[str, Any], gold: Sequence[int]) -> dict[str, Any]:
    """A passage, cut around its gold where it is long. `exact`: its text is its spans' own."""
    spans = [[span["start_char"], span["end_char"]] for span in row["spans"] or ()]
    text = row["text"] or ""
    exact = len(text) == sum(end - start for start, end in spans)
    cut = 0
    if len(text) > CHARS and exact and len(spans) == 1:
        inside = [start - spans[0][0] for start in gold if spans[0][0] <= start < spans[0][1]]
        cut = min(max(0, inside[0] - AROUND), len(text) - CHARS) if inside else 0
    return {
        "id": row["chunk_id"],
        "source": row["source_id"],
        "revision": row["revision_id"],
        "spans": spans,
        "text": text[cut : cut + CHARS],
        "cut": cut,
        "size": len(text),
        "exact": exact,
    }
