"""Scoring what other pipelines left behind: a trace instead of stages that rayeval runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rayeval.execution.score.options import ScoreOptions
    from rayeval.execution.score.run import score, score_tables

__all__ = ["ScoreOptions", "score", "score_tables"]


def __getattr__(name: str) -> Any:
    """What is public, imported where it is asked for: `job.py` needs only the configuration."""
    if name == "ScoreOptions":
        from rayeval.execution.score import options

        return options.ScoreOptions
    if name in ("score", "score_tables"):
        from rayeval.execution.score import run

        return getattr(run, name)
    raise AttributeError(name)
