"""What is allowed in a configuration and hardly meant."""

from __future__ import annotations

from rayeval.errors import Problem
from rayeval.execution.config import RunConfig


def hints(config: RunConfig, path: str) -> list[Problem]:
    """Warnings that need no data."""
    answer = config.answer
    if answer is None or answer.repeats == 1 or answer.temperature > 0:
        return []
    message = (
        f"answer.repeats is {answer.repeats} at temperature 0: only the seed differs, so repeats "
        "are all but the same, each is paid for, and their spread says next to nothing of the "
        "model; set answer.temperature to what users get, or repeats: 1"
    )
    return [Problem(path, None, None, "repeats_at_temperature_0", message, warning=True)]
