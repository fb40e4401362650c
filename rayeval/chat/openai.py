"""An endpoint that speaks OpenAI's chat protocol."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from typing import Any

import httpx

from rayeval import files
from rayeval.chat.budget import SPENT, Account, prompt_tokens
from rayeval.chat.config import OpenAI
from rayeval.chat.engine import Failed, Reply, Request
from rayeval.chat.record import NO_COMPLETION, digest, known, reply, said
from rayeval.live.book import Book, Shared
from rayeval.live.breaker import Breaker
from rayeval.live.log import Log
from rayeval.live.retry import AGAIN, UnavailableError, text_of
from rayeval.live.turns import Turns
from rayeval.live.wire import Wire, run, trying

Outcome = dict[str, Any] | Failed
"""A record of the log, or why there is none."""
SECRET_CHARS = 8
"""A shorter key, such as EMPTY or test, is no secret, and taken out of a reply would change it."""


class Endpoint:
    """Completes conversations, many at once within the endpoint's limits.

    A reply is in the log before it is handed on, and what the log knows is not sent again. What
    fails is never kept as a reply, a 4xx neither: a wrong key is no answer to a question. The
    limits a minute hold for all that share `folder`, concurrency for what this object sends, and
    one worker holds it (`Step.single`).
    Raises ConfigError if the environment lacks a variable that its headers name.
    """

    def __init__(
        self, config: OpenAI, log: Log, scope: str = "", folder: str | None = None
    ) -> None:
        self._config, self._log = config, log
        self._wire = Wire(config.url, config.headers, config.deadline_s)
        book = _book(config, folder)
        self._requests = Turns(_per_second(config.requests_per_minute), book, "requests")
        self._tokens = Turns(_per_second(config.tokens_per_minute), book, "tokens")
        self._breaker = Breaker(self._wire.variables)
        self._account = Account(config, log, scope)

    def complete(self, requests: Sequence[Request]) -> list[Reply | Failed]:
        """Per request what was said, or why nothing was; equal requests are sent once."""
        names = [digest(self._config, request) for request in requests]
        found = run(self._all(dict(zip(names, requests, strict=True)))) if names else {}
        return [
            one if isinstance(one, Failed) else reply(one, name, self._config.prices)
            for name in names
            for one in (found[name],)
        ]

    async def _all(self, requests: Mapping[str, Request]) -> dict[str, Outcome]:
        """In order: what the log has is counted, what it lacks is let in, or is too much."""
        for limit in (self._requests, self._tokens, self._breaker):
            limit.begin()
        self._account.begin()
        places = asyncio.Semaphore(self._config.concurrency)
        found: dict[str, Outcome] = {}

        async def ask(client: httpx.AsyncClient, name: str, request: Request) -> None:
            try:
                found[name] = await self._asked(client, name, request)
            finally:
                places.release()

        async with self._wire.client(self._config.concurrency) as client, _one_error() as group:
            for name, request in requests.items():
                kept = known(self._log.get(name))
                if kept is not None:
                    self._account.charge(name, request, kept)
                    found[name] = kept
                    continue
                await places.acquire()
                if await self._account.admits(name, request):
                    group.create_task(ask(client, name, request))
                else:
                    places.release()
                    found[name] = Failed("budget", SPENT, name)
        return found

    async def _asked(self, client: httpx.AsyncClient, name: str, request: Request) -> Outcome:
        body, attempts = self._body(request), count(1)
        most = prompt_tokens(request) + self._config.max_completion_tokens

        async def send() -> Outcome:
            await self._tokens.next(most)
            await self._requests.next()  # the last: a pause begins while others wait for tokens
            return await self._sent(client, _Try(name, next(attempts), body, most))

        record: dict[str, Any] | None = None
        try:
            async with self._breaker.admitted():
                found: Outcome = await self._tried(send)
            record = found if isinstance(found, dict) else None
            return found
        except UnavailableError as error:
            reason = f"{self._config.url}: {error}{AGAIN}"
            return Failed("timed_out" if error.timed_out else "failed", reason, name)
        finally:
            self._account.settle(name, request, record)

    async def _tried(self, send: Callable[[], Awaitable[Outcome]]) -> Outcome:
        """With all its tries, of whose end the breaker is told."""
        try:
            return await trying(self._config.retries)(send)
        except UnavailableError as error:
            self._breaker.failed(error)
            raise

    async def _sent(self, client: httpx.AsyncClient, this: _Try) -> Outcome:
        """One try: a record that is in the log, or a refusal that no other try changes."""
        url = f"{self._config.url}/chat/completions"
        try:
            response = await self._wire.send(client, self._requests, "POST", url, this.body)
            if not response.is_success:
                refusal = self._wire.refusal(response)
                self._breaker.refused(response.status_code, refusal)
                self._note(this, response.status_code, self._wire.safe(text_of(response)))
                return Failed("failed", f"{self._config.url}: {refusal}{AGAIN}", this.name)
            record = self._record(this, response)
        except UnavailableError as error:
            self._note(this, error.status, error.said or str(error))
            raise
        self._breaker.answered()
        self._log.put(this.name, record)
        return record

    def _record(self, this: _Try, response: httpx.Response) -> dict[str, Any]:
        """A completed conversation as the log keeps it.

        Raises UnavailableError if the response is none.
        """
        try:
            text = self._wire.safe(str(response.content, "utf-8-sig"), SECRET_CHARS)
            found = said(text)
        except ValueError as error:
            broken = NO_COMPLETION if isinstance(error, UnicodeError) else str(error)
            status, text = response.status_code, self._wire.safe(text_of(response))
            raise UnavailableError(broken, status=status, said=text) from error
        tokens = {
            "prompt_tokens": found.prompt_tokens,
            "completion_tokens": found.completion_tokens,
        }
        if found.prompt_tokens is not None and found.completion_tokens is not None:
            self._tokens.give_back(this.most - found.prompt_tokens - found.completion_tokens)
        return {**this.noted(), "status": response.status_code, "response": text, **tokens}

    def _note(self, this: _Try, status: int | None, said: str) -> None:
        """Keeps a try that brought no reply, for people to read."""
        row = {"note": "failed", "of": this.name, **this.noted(), "status": status}
        self._log.note({**row, "said": said})

    def _body(self, request: Request) -> bytes:
        config = self._config
        body: dict[str, Any] = {
            "model": config.model,
            "messages": [{"role": role, "content": text} for role, text in request.messages],
            "temperature": config.temperature,
            "top_p": config.top_p,
            "max_completion_tokens": config.max_completion_tokens,
        }
        if config.seed is not None:
            body["seed"] = config.seed + request.repeat
        if request.schema is not None:
            schema = {"name": "reply", "schema": request.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


@dataclass(frozen=True)
class _Try:
    """One sending of a request."""

    name: str
    attempt: int
    body: bytes
    most: int
    """Tokens that it may cost."""
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    start_s: float = field(default_factory=time.perf_counter)

    def noted(self) -> dict[str, Any]:
        """What the log has of it, however it ended."""
        return {
            "attempt": self.attempt,
            "at": self.at.isoformat(timespec="milliseconds"),
            "latency_ms": 1000 * (time.perf_counter() - self.start_s),
            "body": self.body.decode() if self.attempt == 1 else None,
        }


@asynccontextmanager
async def _one_error() -> AsyncIterator[asyncio.TaskGroup]:
    """Tasks side by side; the first that fails ends the others, and its error is the one raised."""
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None


def _book(config: OpenAI, folder: str | None) -> Book | None:
    """Where the minute's allowance is kept of whoever asks this model there; None: by each."""
    limited = config.requests_per_minute is not None or config.tokens_per_minute is not None
    if folder is None or not limited or files.is_uri(folder):
        return None
    name = hashlib.sha256(f"{config.url}\0{config.model}".encode()).hexdigest()[:32]
    return Shared(f"{folder}/{name}.json")


def _per_second(per_minute: float | None) -> float | None:
    return None if per_minute is None else per_minute / 60
