"""Problems of single questions."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from rayeval.errors import Problem


def notes(
    questions: pa.Table, kind: str, found: Iterable[tuple[int, str]], *, warning: bool = True
) -> list[Problem]:
    """A Problem for each (row of `questions`, message)."""
    at = list(found)
    rows = questions.select(["file", "line", "question_id"]).take(pa.array([row for row, _ in at], pa.int64()))
    places = [tuple(place.values()) for place in rows.to_pylist()]
    return [
        Problem(*place, kind, message.encode(errors="backslashreplace").decode(), warning)
        for place, (_, message) in zip(places, at, strict=True)
    ]
