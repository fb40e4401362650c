"""Golden sets and traces on disk, and a way to score them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from score_files import write_lines

import rayeval
from rayeval.execution.runs import Run


@pytest.fixture
def scored(tmp_path: Path) -> Callable[..., Run]:
    """Scores rows of a trace (or a file) against rows of a golden set."""

    def score(golden: list[dict[str, Any]], trace: Any, **options: Any) -> Run:
        path = write_lines(tmp_path / "golden.jsonl", golden)
        if isinstance(trace, list):
            trace = write_lines(tmp_path / "trace.jsonl", trace)
        return rayeval.score(path, trace, runs=tmp_path / "runs", **options)

    return score
