"""An endpoint that speaks OpenAI's chat protocol."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import httpx

from rayeval.chat.budget import Account, prompt_tokens
from rayeval.chat.config import OpenAI
from rayeval.chat.engine import Failed, Reply, Request
from rayeval.chat.record import digest, reply, said
from rayeval.live.log import Log
from rayeval.live.retry import AGAIN, UnavailableError
from rayeval.live.turns import Turns
from rayeval.live.wire import Wire, run, trying

Outcome = dict[str, Any] | Failed
"""A record of the log, or why there is none."""


class Endpoint:
    """Completes conversations, many at once within the endpoint's limits.

    A reply is in the log before it is handed on, and what the log knows is not sent again. What
    fails is never kept as a reply, a 4xx neither: a wrong key is no answer to a question. The
    limits hold for all that this object sends, and one worker holds it (`Step.single`).
    Raises ConfigError if the environment lacks a variable that its headers name.
    """

    def __init__(self, config: OpenAI, log: Log, scope: str = "") -> None:
        self._config, self._log = config, log
        self._wire = Wire(config.url, config.headers, config.deadline_s)
        self._requests = Turns(_per_second(config.requests_per_minute))
        self._tokens = Turns(_per_second(config.tokens_per_minute))
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
        for limit in (self._requests, self._tokens):
            limit.begin()
        self._account.begin()
        places = asyncio.Semaphore(self._config.concurrency)
        found: dict[str, Outcome] = {}
        async with (
            self._wire.client(self._config.concurrency) as client,
            asyncio.TaskGroup() as group,
        ):
            spent = False
            for name, request in requests.items():
                known = self._log.get(name)
                if known is not None:
                    self._account.charge(name, request, known)
                    found[name] = known
                    continue
                await places.acquire()
                spent = spent or not await self._account.admits(name, request)
                if spent:
                    places.release()
                    found[name] = Failed("budget", f"the budget is spent{AGAIN}", name)
                    continue

                async def ask(name: str = name, request: Request = request) -> None:
                    try:
                        found[name] = await self._asked(client, name, request)
                    finally:
                        places.release()

                group.create_task(ask())
        return found

    async def _asked(self, client: httpx.AsyncClient, name: str, request: Request) -> Outcome:
        body = self._body(request)
        tries = _Tries(self, client, name, request, body)
        record: dict[str, Any] | None = None
        try:
            found: Outcome = await trying(self._config.retries)(tries.send)
            record = found if isinstance(found, dict) else None
            return found
        except UnavailableError as error:
            reason = f"{self._config.url}: {error}{AGAIN}"
            return Failed("timed_out" if error.timed_out else "failed", reason, name)
        finally:
            self._account.settle(name, request, record)

    async def once(
        self, client: httpx.AsyncClient, name: str, request: Request, body: bytes, attempt: int
    ) -> Outcome:
        """One try: a record that is in the log, or a refusal that no other try changes."""
        estimate = prompt_tokens(request) + self._config.max_completion_tokens
        await self._requests.next()
        await self._tokens.next(estimate)
        start, at = time.perf_counter(), datetime.now(UTC).isoformat(timespec="milliseconds")
        noted = {"attempt": attempt, "at": at, "body": body.decode() if attempt == 1 else None}
        url = f"{self._config.url.rstrip('/')}/chat/completions"
        try:
            response = await self._wire.send(client, self._requests, "POST", url, body)
            latency_ms = 1000 * (time.perf_counter() - start)
            if not response.is_success:
                refusal = self._wire.refusal(response)
                self._note(name, noted, response.status_code, refusal)
                return Failed("failed", f"{self._config.url}: {refusal}{AGAIN}", name)
            found = said(response.text)
        except UnavailableError as error:
            self._note(name, noted, None, str(error))
            raise
        except ValueError as error:
            self._note(name, noted, response.status_code, response.text)
            raise UnavailableError(str(error)) from error
        if found.prompt_tokens is not None and found.completion_tokens is not None:
            self._tokens.give_back(estimate - found.prompt_tokens - found.completion_tokens)
        record = {**noted, "status": response.status_code, "response": response.text}
        record |= {"latency_ms": latency_ms, "prompt_tokens": found.prompt_tokens}
        record |= {"completion_tokens": found.completion_tokens}
        self._log.put(name, record)
        return record

    def _note(self, name: str, noted: dict[str, Any], status: int | None, said: str) -> None:
        row = {"note": "failed", "of": name, **noted, "status": status}
        self._log.note({**row, "said": self._wire.safe(said)[:2000]})

    def _body(self, request: Request) -> bytes:
        config = self._config
        body: dict[str, Any] = {
            "model": config.model,
            "messages": [{"role": role, "content": text} for role, text in request.messages],
            "temperature": config.temperature,
            "top_p": config.top_p,
            "max_tokens": config.max_completion_tokens,
        }
        if config.seed is not None:
            body["seed"] = config.seed + request.repeat
        if request.schema is not None:
            schema = {"name": "reply", "schema": request.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


class _Tries:
    """The tries of one request, counted."""

    def __init__(
        self,
        endpoint: Endpoint,
        client: httpx.AsyncClient,
        name: str,
        request: Request,
        body: bytes,
    ) -> None:
        self._endpoint, self._given, self._body = endpoint, (client, name, request), body
        self._attempt = 0

    async def send(self) -> Outcome:
        """The next try."""
        self._attempt += 1
        return await self._endpoint.once(*self._given, self._body, self._attempt)


def _per_second(per_minute: float | None) -> float | None:
    return None if per_minute is None else per_minute / 60
