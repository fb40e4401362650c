"""Models that are asked by chat: what answers and judges share."""

from __future__ import annotations

from rayeval.chat.config import OpenAI, Vllm
from rayeval.chat.engine import Engine
from rayeval.live.log import Log


def build(config: OpenAI | Vllm, log: Log, scope: str = "", folder: str | None = None) -> Engine:
    """The engine that `config` names.

    log: what was paid for already. scope: whose budget is counted, the name of one step. folder:
    what those share whose limits a minute hold together; None: each has its own.
    Raises ConfigError if it can't be asked as configured, MissingExtraError without its library.
    """
    if isinstance(config, OpenAI):
        from rayeval.chat.openai import Endpoint

        return Endpoint(config, log, scope, folder)
    from rayeval.chat.vllm import VllmEngine

    return VllmEngine(config, log, scope)
