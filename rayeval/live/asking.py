"""Putting candidates to a live system: whichever it is, an answer or a RowError per question."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from rayeval.errors import RowError
from rayeval.live import code
from rayeval.live.batch import answers
from rayeval.live.chosen import OFFERED, Candidates, values
from rayeval.live.config import Http, Python
from rayeval.live.log import Log
from rayeval.live.service import Service
from rayeval.tables import TEXT

Question = Mapping[str, Any]
Ask = Callable[[Sequence[Question], Sequence[Candidates]], Sequence[Any]]
"""(`question_id` and `question`, candidates) of every row → its answer, or a RowError."""


def asker(config: Http | Python, log: Log) -> Ask:
    """What asks the system that `config` names.

    Raises ConfigError if it can't be asked as configured.
    """
    if isinstance(config, Http):
        service = Service(config, log)
        depth = {"depth": getattr(config, "depth", None)}
        return lambda asked, lists: service.items(
            [{**values(row, some), **depth} for row, some in zip(asked, lists, strict=True)]
        )
    made = code.build(config.factory, config.settings, config.folder)
    return lambda asked, lists: answers(made, _table(asked, lists), "answer")


def outcomes(ask: Ask, batch: pa.Table, lists: Sequence[Candidates]) -> list[Any]:
    """Per row the system's answer or a RowError; without candidates, an empty list unasked."""
    asked = batch.select(["question_id", "question"]).to_pylist()
    some = [row for row, candidates in enumerate(lists) if candidates]
    given = iter(ask([asked[row] for row in some], [lists[row] for row in some]) if some else ())
    return [next(given) if candidates else [] for candidates in lists]


def failing(question_id: str, error: RowError) -> dict[str, str]:
    """The row of a question that the system gave nothing good for."""
    return {"error": f"question {question_id}: {error}"}


def _table(asked: Sequence[Question], lists: Sequence[Candidates]) -> pa.Table:
    columns = {name: pa.array([row[name] for row in asked], TEXT) for name in asked[0]}
    return pa.table({**columns, "candidates": pa.array(list(map(list, lists)), OFFERED)})
