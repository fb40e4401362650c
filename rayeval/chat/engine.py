"""What a chat model is asked, and what comes back: a reply or a reason per request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

Failure = Literal["timed_out", "refused", "failed", "budget"]


@dataclass(frozen=True)
class Request:
    """One conversation to be completed."""

    messages: tuple[tuple[str, str], ...]
    """(role, content)"""
    prompt: str
    """The hash of the template that made the messages."""
    schema: Mapping[str, Any] | None = None
    """The JSON schema that the reply must follow."""
    repeat: int = 0
    """Which of several replies to the same request this is to be."""


@dataclass(frozen=True)
class Reply:
    """What the model said, whole, as it said it."""

    text: str
    finish_reason: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    latency_ms: float
    request: str
    """The digest under which the log has it."""


@dataclass(frozen=True)
class Failed:
    """Why there is no reply: never a reply itself, and never kept as one."""

    outcome: Failure
    reason: str
    request: str


class Engine(Protocol):
    """Whoever completes conversations."""

    def complete(self, requests: Sequence[Request]) -> list[Reply | Failed]:
        """Per request what was said, or why nothing was; in the order of `requests`."""
        ...
