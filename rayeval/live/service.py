"""Asking a service: many requests at once, within its limits, every failure by itself."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import httpx

from rayeval.errors import RowError
from rayeval.live import template
from rayeval.live.breaker import DENIED, Breaker
from rayeval.live.config import Http
from rayeval.live.log import Log
from rayeval.live.retry import AGAIN, UnavailableError
from rayeval.live.turns import Turns
from rayeval.live.wire import Wire, run, trying

Request = tuple[str, bytes | None]
"""URL and body."""


class Service:
    """One service, as its settings describe it.

    Raises ConfigError if the environment lacks a variable that its headers name.
    """

    def __init__(self, config: Http, log: Log) -> None:
        self._config, self._log = config, log
        self._body = template.body_of(config.body)
        self._wire = Wire(config.url, config.headers, config.deadline_s)
        self._turns = Turns(config.rate_per_s)
        self._breaker = Breaker(self._wire.variables)

    def items(self, values: Sequence[Mapping[str, Any]]) -> list[list[Any] | RowError]:
        """Per request the listed items, mapped by the configured fields, or why there are none.

        values: what fills the template's placeholders, one mapping per request. Equal requests
        are sent once; a request that the log knows is not sent.
        """
        requests = [self._request(one) for one in values]
        answers = self._answers(dict(zip(map(_digest, requests), requests, strict=True)))
        return [self._items(answers[_digest(request)]) for request in requests]

    def _answers(self, requests: Mapping[str, Request]) -> dict[str, Any]:
        known = {name: _readable(self._log.get(name)) for name in requests}
        new = {name: request for name, request in requests.items() if known[name] is None}
        return known | (run(self._ask_all(new)) if new else {})

    async def _ask_all(self, requests: Mapping[str, Request]) -> dict[str, Any]:
        """`{"status", "json" | "said"}`, or {"failed"} where no answer came to be kept."""
        places = asyncio.Semaphore(self._config.concurrency)
        self._turns.begin()
        self._breaker.begin()
        async with self._wire.client(self._config.concurrency) as client:

            async def ask(name: str, request: Request) -> tuple[str, Any]:
                async with places:
                    return name, await self._kept(client, name, request)

            pairs = await asyncio.gather(*(ask(*item) for item in requests.items()))
        return dict(pairs)

    async def _kept(self, client: httpx.AsyncClient, name: str, request: Request) -> Any:
        try:
            async with self._breaker.admitted():
                answer = await self._tried(client, request)
        except UnavailableError as error:
            return {"failed": str(error)}
        if answer["status"] in DENIED:  # of a key, which another run may have
            return {"failed": answer["said"]}
        self._log.put(name, answer)
        return answer

    async def _tried(self, client: httpx.AsyncClient, request: Request) -> Any:
        """With all its tries, of whose end the breaker is told. A 404 may be about the question."""
        try:
            answer: Any = await trying(self._config.retries)(self._answer, client, request)
        except UnavailableError as error:
            self._breaker.failed(error)
            raise
        if answer["status"] in DENIED:
            self._breaker.refused(answer["status"], answer["said"])
        else:
            self._breaker.answered()
        return answer

    async def _answer(self, client: httpx.AsyncClient, request: Request) -> Any:
        await self._turns.next()
        response = await self._wire.send(client, self._turns, self._config.method, *request)
        if not response.is_success:
            return {"status": response.status_code, "said": self._wire.refusal(response)}
        try:
            return {"status": response.status_code, "json": response.json()}
        except (ValueError, RecursionError) as error:  # a page, or lists within lists without end
            raise UnavailableError("it answered with something that isn't JSON") from error

    def _items(self, answer: Mapping[str, Any]) -> list[Any] | RowError:
        if "json" not in answer:
            failed = answer.get("failed")
            said = answer["said"] if failed is None else f"{failed}{AGAIN}"
            return RowError(f"{self._config.url}: {said}")
        found = at(answer["json"], self._config.hits)
        if not isinstance(found, list):
            what = "nothing" if found is None else f"a {type(found).__name__}"
            return RowError(
                f"{self._config.url}: the answer has {what} at {self._config.hits!r}, where "
                "`hits` says the list is"
            )
        return [self._mapped(item) for item in found]

    def _mapped(self, item: Any) -> Any:
        fields = self._config.fields
        return {name: at(item, path) for name, path in fields.items()} if fields else item

    def _request(self, values: Mapping[str, Any]) -> Request:
        url = template.filled_url(self._config.url, values)
        if self._body is None:
            return url, None
        body = template.filled_body(self._body, values)
        return url, json.dumps(body, ensure_ascii=False, sort_keys=True).encode()


def _readable(answer: Any) -> Any:
    """What a log has of a request; None where that is no answer: it is asked for again then."""
    whole = isinstance(answer, dict) and ("json" in answer or isinstance(answer.get("said"), str))
    return answer if whole else None


def at(value: Any, path: str) -> Any:
    """What stands at a dotted path, numbers counting list items from 0; None where nothing does."""
    for part in filter(None, path.split(".")):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    return value


def _digest(request: Request) -> str:
    url, body = request
    return hashlib.sha256(url.encode() + b"\0" + (body or b"")).hexdigest()[:32]
