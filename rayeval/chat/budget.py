"""What a step may spend: requests are let in one after another while what they may cost fits."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from rayeval.chat.config import Chat
from rayeval.chat.engine import Request
from rayeval.chat.record import cost_usd, said
from rayeval.live.log import Log

PER_TOKEN = 2
"""UTF-8 bytes that make at least one token in any tokenizer we know, on average: a request is
taken to have a token in every two bytes until the endpoint says how many it had."""


def prompt_tokens(request: Request) -> int:
    """The tokens of a request, estimated from above."""
    size = sum(len(text.encode("utf-8", "replace")) for _, text in request.messages)
    return size // PER_TOKEN + 8 * len(request.messages) + 8


@dataclass(frozen=True)
class Spent:
    """Tokens of prompts and completions together, and dollars."""

    tokens: int = 0
    usd: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.tokens + other.tokens, self.usd + other.usd)

    def __sub__(self, other: Spent) -> Spent:
        return Spent(self.tokens - other.tokens, self.usd - other.usd)


class Account:
    """One step's spending, in order of its requests; what was spent before a kill counts too.

    A request is let in when all that earlier ones cost, and the most that it may cost itself, fits;
    so a step that goes on after a kill stops where one that ran undisturbed does.
    """

    def __init__(self, config: Chat, log: Log, scope: str) -> None:
        self._config, self._log, self._scope = config, log, scope
        self.limited = (
            config.budget.max_cost_usd is not None or config.budget.max_tokens is not None
        )
        self._paid: dict[str, Spent] = {}
        if self.limited:
            self._paid = {
                note["request"]: Spent(note["tokens"], note["usd"])
                for note in log.notes()
                if note.get("note") == "spent" and note["scope"] == scope
            }
        self._total = sum(self._paid.values(), Spent())
        self._held = Spent()
        self._changed = asyncio.Event()

    @property
    def spent(self) -> Spent:
        """So far."""
        return self._total

    def begin(self) -> None:
        """On the event loop that now runs."""
        self._changed = asyncio.Event()
        self._held = Spent()

    async def admits(self, name: str, request: Request) -> bool:
        """Whether the request may be sent; waits for what is under way where that decides it."""
        while not self.takes(name, request):
            if self._held == Spent():
                return False
            self._changed.clear()
            await self._changed.wait()
        return True

    def takes(self, name: str, request: Request) -> bool:
        """Lets the request in if it fits beside all that is under way."""
        if not self.limited or name in self._paid:
            return True
        most = self._most(request)
        if not self._fits(self._total + self._held + most):
            return False
        self._held += most
        return True

    def settle(self, name: str, request: Request, record: dict[str, Any] | None) -> None:
        """What an admitted request came to cost; None: it got no reply."""
        if not self.limited or name in self._paid:
            return
        self.release(request)
        if record is not None:
            self.charge(name, request, record)

    def release(self, request: Request) -> None:
        """An admitted request is over."""
        self._held -= self._most(request)
        if abs(self._held.usd) < 1e-12:
            self._held = Spent(self._held.tokens, 0.0)
        self._changed.set()

    def charge(self, name: str, request: Request, record: dict[str, Any]) -> None:
        """Counts a reply, whether it was paid for now or found in the log."""
        if not self.limited or name in self._paid:
            return
        found = said(record["response"])
        prompt = found.prompt_tokens
        prompt = prompt_tokens(request) if prompt is None else prompt
        completion = found.completion_tokens
        completion = self._config.max_completion_tokens if completion is None else completion
        usd = cost_usd(self._config.prices, prompt, completion) or 0.0
        self._paid[name] = Spent(prompt + completion, usd)
        self._total += self._paid[name]
        row = {"note": "spent", "scope": self._scope, "request": name}
        self._log.note({**row, "tokens": prompt + completion, "usd": usd})

    def _most(self, request: Request) -> Spent:
        prompt, completion = prompt_tokens(request), self._config.max_completion_tokens
        usd = cost_usd(self._config.prices, prompt, completion) or 0.0
        return Spent(prompt + completion, usd)

    def _fits(self, whole: Spent) -> bool:
        budget = self._config.budget
        return (budget.max_tokens is None or whole.tokens <= budget.max_tokens) and (
            budget.max_cost_usd is None or whole.usd <= budget.max_cost_usd * (1 + 1e-12)
        )
