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
    rows = questions.select(["file", "line", "question_id"]).take(
        pa.array([row for row, _ in at], pa.int64())
    )
    safe = [message.encode(errors="backslashreplace").decode() for _, message in at]
    return [
        Problem(**place, kind=kind, message=message, warning=warning)
        for place, message in zip(rows.to_pylist(), safe, strict=True)
    ]
