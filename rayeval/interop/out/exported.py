"""What a run gives other tools: the tables that every export is made of."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import polars as pl

from rayeval.files import put


@dataclass(frozen=True)
class Exported:
    """A run's questions and passages, how they are judged, and what each stage found."""

    questions: pl.DataFrame
    """`question_id, question, reference_answer, quotes`: of gold evidence, where it has any."""
    passages: pl.DataFrame
    """`chunk_id, text`."""
    judgements: pl.DataFrame
    """`question_id, chunk_id, relevance`: the best evidence that the passage alone finds."""
    hits: pl.DataFrame
    """`question_id, stage, chunk_id, rank, score`: score falls with rank, so that every tool,
    however it breaks ties, sees the run's own order."""


def put_lines(folder: str, name: str, rows: Iterable[dict[str, Any]]) -> str:
    """Writes JSON Lines; returns the file's name."""
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    put(folder, name, text.encode())
    return name
