"""One endpoint's wire: what is sent to it, how long that may take, what its refusals mean."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

import httpx
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

from rayeval.errors import ConfigError
from rayeval.errors import text_of as said_by
from rayeval.live.address import VARIABLE
from rayeval.live.retry import UnavailableError, may_pass, passing, pause, retry_after_s, text_of
from rayeval.live.turns import Turns

_JSON = {"Content-Type": "application/json"}
CONNECT_S = 10.0
"""Within that a connection stands, however long an answer may take."""
SAID = 200
"""Characters of a refusal that are passed on."""
MOST_BYTES = 1 << 26
"""Of an answer, unpacked: more is taken for no answer before it fills the memory."""
Found = TypeVar("Found")


class Wire:
    """The way to one endpoint.

    Raises ConfigError if the environment lacks a variable that its headers name, or has one that
    no header can hold.
    """

    def __init__(self, url: str, headers: Mapping[str, str], deadline_s: float) -> None:
        self.url, self.deadline_s = url, deadline_s
        self._secrets: dict[str, str] = {}
        self._headers = {name: self._resolved(text) for name, text in headers.items()}

    @property
    def variables(self) -> frozenset[str]:
        """The names of what its headers hold from the environment."""
        return frozenset(self._secrets)

    def client(self, connections: int) -> httpx.AsyncClient:
        """With this endpoint's headers; `connections` at once."""
        limits = httpx.Limits(max_connections=connections)
        connect_s = min(CONNECT_S, 0.9 * self.deadline_s)  # before the deadline, to tell them apart
        timeout = httpx.Timeout(self.deadline_s, connect=connect_s)
        return httpx.AsyncClient(timeout=timeout, headers=self._headers, limits=limits)

    async def send(
        self, client: httpx.AsyncClient, turns: Turns, method: str, url: str, body: bytes | None
    ) -> httpx.Response:
        """The whole response; one that may be another soon, or none, is an UnavailableError."""
        kind = {} if body is None or "content-type" in client.headers else _JSON
        try:
            async with asyncio.timeout(self.deadline_s):
                response = await _whole(client.stream(method, url, content=body, headers=kind))
        except TimeoutError as error:
            raise UnavailableError(
                f"no whole answer within {self.deadline_s:g} s", timed_out=True
            ) from error
        except httpx.RequestError as error:
            gone = not isinstance(error, httpx.TimeoutException)
            gone |= isinstance(error, httpx.ConnectTimeout)
            reason = f"no answer: {self.safe(said_by(error, named=False) or type(error).__name__)}"
            raise UnavailableError(reason, timed_out=not gone, unreachable=gone) from error
        if passing(response.status_code):
            wait_s = retry_after_s(response)
            turns.hold(wait_s)
            said = self.safe(text_of(response))
            raise UnavailableError(
                self.refusal(response), wait_s, status=response.status_code, said=said
            )
        return response

    def refusal(self, response: httpx.Response) -> str:
        """What an endpoint said instead of answering, shortened, without secrets."""
        said = self.safe(" ".join(text_of(response)[:SAID].split()))
        return f"HTTP {response.status_code}" + (f": {said}" if said else "")

    def safe(self, text: str, least: int = 1) -> str:
        """`text` without what the environment keeps, where that has `least` characters."""
        for name, value in self._secrets.items():
            if len(value) >= least:
                text = text.replace(value, f"[{name}]")
        return text

    def _resolved(self, text: str) -> str:
        """`${NAME}` from the environment."""
        for name in VARIABLE.findall(text):
            value = os.environ.get(name)
            if not value:
                raise ConfigError(f"{self.url}: the environment lacks {name}, which a header needs")
            if not (value.isascii() and value.isprintable()):
                raise ConfigError(
                    f"{self.url}: {name} in the environment has characters that no header may "
                    "have; expected printable ASCII, without a line's end"
                )
            self._secrets[name] = value
        return VARIABLE.sub(lambda match: self._secrets[match[1]], text)


async def _whole(stream: AbstractAsyncContextManager[httpx.Response]) -> httpx.Response:
    """A response with its body unpacked. Raises UnavailableError if that is too large."""
    async with stream as response:
        body = bytearray()
        async for part in response.aiter_bytes():
            body += part
            if len(body) > MOST_BYTES:
                raise UnavailableError(
                    f"an answer of over {MOST_BYTES >> 20} MiB", status=response.status_code
                )
    packing = ("content-encoding", "content-length", "transfer-encoding")
    headers = [pair for pair in response.headers.multi_items() if pair[0] not in packing]
    return httpx.Response(response.status_code, headers=headers, content=bytes(body))


def trying(retries: int) -> AsyncRetrying:
    """Calls again what may pass, so many times more, as late as the server asks."""
    return AsyncRetrying(
        stop=stop_after_attempt(retries + 1),
        wait=pause,
        retry=retry_if_exception(may_pass),
        reraise=True,
    )


def run(asking: Coroutine[Any, Any, Found]) -> Found:
    """`asking` to its end, also where this thread, as in a notebook, has an event loop already."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(asking)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, asking).result()
