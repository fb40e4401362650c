"""What a run needs of the environment, looked for before anything is computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from rayeval.chat.config import OpenAI
from rayeval.errors import ConfigError
from rayeval.execution.config import RunConfig
from rayeval.execution.plan.plan import Steps
from rayeval.execution.store import Output
from rayeval.live.config import Http
from rayeval.live.wire import Wire
from rayeval.retrieve.dense.config import Dense
from rayeval.retrieve.dense.config import OpenAI as Embeddings
from rayeval.retrieve.dense.endpoint import key_of

VECTORS = ("vectors:", "query_vectors:")
JUDGED = ("judged",)
"""Beginnings of the names of steps that ask; judges alone are not timed."""


def refuse_unset(config: RunConfig, plan: Steps, root: str) -> None:
    """Raises ConfigError with every variable that the environment lacks, or that no header holds.

    What the store has is not asked for again, unless latency is measured.
    """
    open_ = [step.name for step in plan.steps if Output(root, step.key).manifest() is None]
    wrong = []
    for name, steps, probe in _needs(config):
        timed = bool(config.latency.sample) and steps != JUDGED
        if timed or any(step.startswith(steps) for step in open_):
            try:
                probe()
            except ConfigError as error:
                wrong.append(f"{name}: {error}")
    if wrong:
        raise ConfigError("\n".join(wrong))


def _needs(config: RunConfig) -> Iterator[tuple[str, tuple[str, ...], Callable[[], object]]]:
    """Part of the configuration, the steps that ask it, and what raises ConfigError."""
    for name, arm in config.retrieve.arms.items():
        if isinstance(arm, Http):
            yield f"retrieve.arms.{name}", (f"asked:{name}",), _headers(arm)
        if isinstance(arm, Dense) and isinstance(arm.embedder, Embeddings):
            key = partial(key_of, arm.embedder.api_key_env)
            yield f"retrieve.arms.{name}.embedder", VECTORS, key
    parts: Sequence[tuple[str, tuple[str, ...], object]] = (
        ("rerank", ("reranked",), config.rerank),
        ("context", ("context",), config.context),
        ("answer", ("answers",), config.answer),
        ("judge", JUDGED, config.judge),
    )
    for name, steps, part in parts:
        if isinstance(part, Http | OpenAI):
            yield name, steps, _headers(part)


def _headers(part: Http | OpenAI) -> Callable[[], Wire]:
    return partial(Wire, part.url, part.headers, part.deadline_s)
