"""What requests would cost, before any is sent."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rayeval.chat.budget import prompt_tokens
from rayeval.chat.config import Chat
from rayeval.chat.engine import Request
from rayeval.chat.record import cost_usd


@dataclass(frozen=True)
class Estimate:
    """Upper bounds, but for `requests_least`: a token in every two bytes of a prompt, replies as
    long as they may be."""

    requests: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    """None without prices."""
    requests_least: int
    """So many are sent for sure, if the log has none of them."""
    logged: int | None = None
    """Requests that the log answers already, not counted in the other figures; None: it was not
    looked up, and they are counted."""


def estimate(config: Chat, requests: Iterable[Request]) -> Estimate:
    """What all of `requests` may cost at most, if each gets its reply at the first try."""
    sizes = [prompt_tokens(request) for request in requests]
    completion = len(sizes) * config.max_completion_tokens
    usd = cost_usd(config.prices, sum(sizes), completion)
    return Estimate(len(sizes), sum(sizes), completion, usd, len(sizes))
