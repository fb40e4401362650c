"""What a log of replies has already, of requests that nobody sends."""

from __future__ import annotations

from collections.abc import Sequence

from rayeval.chat.budget import prompt_tokens
from rayeval.chat.config import OpenAI
from rayeval.chat.engine import Failed, Reply, Request
from rayeval.chat.record import digest, reply
from rayeval.live.log import Log


class Peek:
    """An engine that asks nobody: it replies what the log has, and counts what it lacks."""

    def __init__(self, config: OpenAI, log: Log) -> None:
        self._config, self._log = config, log
        self.lacking: dict[str, int] = {}
        """Digest → tokens of the prompt, from above."""
        self.known: set[str] = set()
        """Digests of what the log has."""

    def complete(self, requests: Sequence[Request]) -> list[Reply | Failed]:
        """Per request what the log has of it, in order."""
        return [self._one(request) for request in requests]

    def _one(self, request: Request) -> Reply | Failed:
        name = digest(self._config, request)
        record = self._log.get(name)
        if record is None:
            self.lacking[name] = prompt_tokens(request)
            return Failed("failed", "it was not asked", name)
        self.known.add(name)
        return reply(record, name, self._config.prices)
