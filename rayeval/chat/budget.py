"""What a step may spend: requests are let in one after another while what they may cost fits."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

from rayeval.chat.config import Chat
from rayeval.chat.engine import Request
from rayeval.chat.record import cost_usd, said
from rayeval.live.log import Log
from rayeval.live.retry import AGAIN

PER_TOKEN = 2
"""UTF-8 bytes that make at least one token in any tokenizer we know, on average: a request is
taken to have a token in every two bytes until the endpoint says how many it had."""

SPENT = f"the budget is spent; raise it to go on{AGAIN}"


def prompt_tokens(request: Request) -> int:
    """The tokens of a request, its schema among them, estimated from above."""
    schema = "" if request.schema is None else json.dumps(request.schema)
    texts = [schema, *(text for _, text in request.messages)]
    size = sum(len(text.encode("utf-8", "replace")) for text in texts)
    return size // PER_TOKEN + 8 * len(request.messages) + 8


@dataclass(frozen=True)
class Tokens:
    """Of prompts and of completions: whole numbers, so that no order of adding matters."""

    prompt: int = 0
    completion: int = 0

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(self.prompt + other.prompt, self.completion + other.completion)

    def __sub__(self, other: Tokens) -> Tokens:
        return Tokens(self.prompt - other.prompt, self.completion - other.completion)


class Account:
    """One step's spending, in order of its requests; what was spent before a kill counts too.

    A request is let in when all that earlier ones cost, and the most that it may cost itself, fits.
    The first that doesn't closes the account, until prices or budget are others. So a step that
    goes on after a kill stops where one that ran undisturbed does. What a try cost that brought no
    reply is unknown and not counted.
    """

    def __init__(self, config: Chat, log: Log, scope: str) -> None:
        self._config, self._log, self._scope = config, log, scope
        self._limits = config.model_dump(mode="json", include={"budget", "prices"})
        limits = (config.budget.max_cost_usd, config.budget.max_tokens)
        self.limited = limits != (None, None)
        self._paid: dict[str, Tokens] = {}
        self._closed = False
        for note in log.notes() if self.limited else ():
            if note.get("scope") == scope:
                self._recall(note)
        self._total = sum(self._paid.values(), Tokens())
        self._held = Tokens()
        self._changed = asyncio.Event()

    def begin(self) -> None:
        """On the event loop that now runs."""
        self._changed = asyncio.Event()
        self._held = Tokens()

    async def admits(self, name: str, request: Request) -> bool:
        """Whether the request may be sent; waits for what is under way where that decides it."""
        while not self.takes(name, request):
            if self._closed:
                return False
            self._changed.clear()
            await self._changed.wait()
        return True

    def takes(self, name: str, request: Request) -> bool:
        """Lets the request in if it fits beside all that is under way.

        One that doesn't with nothing under way is the first that is too much: no other gets in.
        """
        if not self.limited or name in self._paid:
            return True
        most = self._most(request)
        if not self._closed and self._fits(self._total + self._held + most):
            self._held += most
            return True
        if not self._closed and self._held == Tokens():
            self._closed = True
            self._log.note({"note": "closed", "scope": self._scope, "limits": self._limits})
        return False

    def settle(self, name: str, request: Request, record: dict[str, Any] | None) -> None:
        """What an admitted request came to cost; None: it got no reply."""
        if not self.limited or name in self._paid:
            return
        self._held -= self._most(request)
        self._changed.set()
        if record is not None:
            self.charge(name, request, record)

    def charge(self, name: str, request: Request, record: dict[str, Any]) -> None:
        """Counts a reply, whether it was paid for now or found in the log.

        Where the endpoint doesn't say how many tokens it had, it had as many as it may.
        """
        if not self.limited or name in self._paid:
            return
        found, most = said(record["response"]), self._most(request)
        self._paid[name] = Tokens(
            most.prompt if found.prompt_tokens is None else found.prompt_tokens,
            most.completion if found.completion_tokens is None else found.completion_tokens,
        )
        self._total += self._paid[name]
        row = {"note": "paid", "scope": self._scope, "of": name}
        tokens = {"prompt": self._paid[name].prompt, "completion": self._paid[name].completion}
        self._log.note({**row, **tokens})

    def _recall(self, note: dict[str, Any]) -> None:
        """What an earlier process noted of this step."""
        prompt, completion = note.get("prompt"), note.get("completion")
        if note.get("note") == "closed":
            self._closed = self._closed or note.get("limits") == self._limits
        elif note.get("note") == "paid" and type(prompt) is int and type(completion) is int:
            self._paid[note.get("of", "")] = Tokens(prompt, completion)

    def _most(self, request: Request) -> Tokens:
        return Tokens(prompt_tokens(request), self._config.max_completion_tokens)

    def _fits(self, whole: Tokens) -> bool:
        budget = self._config.budget
        usd = cost_usd(self._config.prices, whole.prompt, whole.completion) or 0.0
        return (
            budget.max_tokens is None or whole.prompt + whole.completion <= budget.max_tokens
        ) and (budget.max_cost_usd is None or usd <= budget.max_cost_usd)
