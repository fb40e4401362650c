"""Asking a service: many requests at once, within its limits, every failure by itself."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

from rayeval.errors import ConfigError, RowError
from rayeval.live import template
from rayeval.live.config import Http
from rayeval.live.log import Log
from rayeval.live.retry import AGAIN, UnavailableError, may_pass, passing, pause, retry_after_s

_VARIABLE = re.compile(r"\$\{(\w+)\}")
SAID = 200
"""Characters of a refusal that are passed on."""

Request = tuple[str, bytes | None]
"""URL and body."""


class Service:
    """One service, as its settings describe it.

    Raises ConfigError if the environment lacks a variable that its headers name.
    """

    def __init__(self, config: Http, log: Log) -> None:
        self._config, self._log = config, log
        self._body = template.body_of(config.body)
        self._secrets: dict[str, str] = {}
        self._headers = {name: self._resolved(text) for name, text in config.headers.items()}
        self._turns = _Turns(config.rate_per_s)

    def items(self, values: Sequence[Mapping[str, Any]]) -> list[list[Any] | RowError]:
        """Per request the listed items, mapped by the configured fields, or why there are none.

        values: what fills the template's placeholders, one mapping per request. Equal requests
        are sent once; a request that the log knows is not sent.
        """
        requests = [self._request(one) for one in values]
        answers = self._answers(dict(zip(map(_digest, requests), requests, strict=True)))
        return [self._items(answers[_digest(request)]) for request in requests]

    def _answers(self, requests: Mapping[str, Request]) -> dict[str, Any]:
        known = {name: self._log.get(name) for name in requests}
        new = {name: request for name, request in requests.items() if known[name] is None}
        return known | (_run(self._ask_all(new)) if new else {})

    async def _ask_all(self, requests: Mapping[str, Request]) -> dict[str, Any]:
        """`{"status", "json" | "said"}`, or {"failed"} where no answer came to be kept."""
        config = self._config
        places = asyncio.Semaphore(config.concurrency)
        limits = httpx.Limits(max_connections=config.concurrency)
        self._turns.begin()
        client = httpx.AsyncClient(timeout=config.deadline_s, headers=self._headers, limits=limits)
        async with client:

            async def ask(name: str, request: Request) -> tuple[str, Any]:
                async with places:
                    return name, await self._kept(client, name, request)

            pairs = await asyncio.gather(*(ask(*item) for item in requests.items()))
        return dict(pairs)

    async def _kept(self, client: httpx.AsyncClient, name: str, request: Request) -> Any:
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self._config.retries + 1),
            wait=pause,
            retry=retry_if_exception(may_pass),
            reraise=True,
        )
        try:
            answer: Any = await retrying(self._answer, client, request)
        except UnavailableError as error:
            return {"failed": str(error)}
        self._log.put(name, answer)
        return answer

    async def _answer(self, client: httpx.AsyncClient, request: Request) -> Any:
        config, (url, body) = self._config, request
        kind = {} if body is None or "content-type" in client.headers else _JSON
        await self._turns.next()
        try:
            async with asyncio.timeout(config.deadline_s):
                response = await client.request(config.method, url, content=body, headers=kind)
        except TimeoutError as error:
            raise UnavailableError(f"no whole answer within {config.deadline_s:g} s") from error
        except httpx.RequestError as error:
            reason = str(error) or type(error).__name__
            raise UnavailableError(f"no answer: {self._safe(reason)}") from error
        if passing(response.status_code):
            wait_s = retry_after_s(response)
            self._turns.hold(wait_s)
            raise UnavailableError(self._refusal(response), wait_s)
        if not response.is_success:
            return {"status": response.status_code, "said": self._refusal(response)}
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

    def _refusal(self, response: httpx.Response) -> str:
        said = self._safe(" ".join(response.text[:SAID].split()))
        return f"HTTP {response.status_code}" + (f": {said}" if said else "")

    def _resolved(self, text: str) -> str:
        """`${NAME}` from the environment."""
        for name in _VARIABLE.findall(text):
            value = os.environ.get(name)
            if not value:
                raise ConfigError(
                    f"{self._config.url}: the environment lacks {name}, which a header needs"
                )
            self._secrets[name] = value
        return _VARIABLE.sub(lambda match: self._secrets[match[1]], text)

    def _safe(self, text: str) -> str:
        """`text` without what the environment keeps."""
        for name, value in self._secrets.items():
            text = text.replace(value, f"[{name}]")
        return text


_JSON = {"Content-Type": "application/json"}


def _run(asking: Coroutine[Any, Any, dict[str, Any]]) -> dict[str, Any]:
    """`asking` to its end, also where this thread, as in a notebook, has an event loop already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(asking)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, asking).result()


class _Turns:
    """No more than so many requests begin in a second, tries after the first among them."""

    def __init__(self, rate_per_s: float | None) -> None:
        self._gap_s = 0.0 if rate_per_s is None else 1 / rate_per_s
        self._free_s = 0.0

    def begin(self) -> None:
        """On the event loop that now runs: its clock is the one that counts."""
        self._free_s = max(self._free_s, asyncio.get_running_loop().time())

    async def next(self) -> None:
        """Waits for this request's turn."""
        now = asyncio.get_running_loop().time()
        turn = max(now, self._free_s)
        self._free_s = turn + self._gap_s
        if turn > now:
            await asyncio.sleep(turn - now)

    def hold(self, seconds: float) -> None:
        """Nobody's turn until the server has had the pause that it asked of one."""
        if seconds:
            self._free_s = max(self._free_s, asyncio.get_running_loop().time() + min(seconds, 600))


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
