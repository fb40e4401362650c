"""Limits a minute are an endpoint's: whoever asks it in a run keeps to the strictest."""

from __future__ import annotations

from typing import TypeVar

from rayeval.chat.config import Chat, OpenAI
from rayeval.execution.config import RunConfig
from rayeval.execution.score.config import ScoreConfig

LIMITS = ("requests_per_minute", "tokens_per_minute")
Asking = TypeVar("Asking", bound=Chat)


def limited(config: Asking, run: RunConfig | ScoreConfig) -> Asking:
    """`config` with the strictest limits that `answer` or `judge` states of its model there."""
    if not isinstance(config, OpenAI):
        return config
    every = (getattr(run, "answer", None), run.judge)
    same = [one for one in every if isinstance(one, OpenAI) and _place(one) == _place(config)]
    stated = {name: [getattr(one, name) for one in same if getattr(one, name)] for name in LIMITS}
    return config.model_copy(update={name: min(of) for name, of in stated.items() if of})


def _place(config: OpenAI) -> tuple[str, str]:
    return config.url, config.model
