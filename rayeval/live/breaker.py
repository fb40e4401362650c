"""When to stop asking: an endpoint that is gone, or refuses all, costs no further tries."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager

from rayeval.live.retry import UnavailableError

REFUSED = 20
"""So many requests in a row without a connection, or refused as by an address that is none."""
UNAUTHORIZED = 3
"""So many, from the first on, whose key was refused."""
DENIED = frozenset({401, 403})
NOBODY = frozenset({404, 502, 503, 504})
"""What an address says where nobody answers requests like these: 404, or a proxy's 5xx."""
PAUSES_S = (30.0, 60.0, 120.0)
"""An endpoint that has answered before is waited for: a single request after each of these."""


class StoppedError(UnavailableError):
    """Not asked, as it would be in vain."""


class Breaker:
    """Counts requests, each with all its tries, that one endpoint refused in a row.

    Any other answer, also one that refuses what a request says, ends the count; no answer in time
    is none. Once the endpoint is given up, it is for as long as this object lives: one step.
    """

    def __init__(self, variables: Collection[str]) -> None:
        """variables: of the environment, that the headers were filled from."""
        self._key = f"its headers hold {', '.join(sorted(variables))} from the environment"
        if not variables:
            self._key = "its `headers` hold nothing from the environment"
        self._refused = 0
        self._denied = self._answered = False
        self._said = ""
        self._stopped: str | None = None
        self._pauses = list(PAUSES_S)
        self.begin()

    def begin(self) -> None:
        """On the event loop that now runs."""
        self._line = asyncio.Lock()

    @asynccontextmanager
    async def admitted(self) -> AsyncIterator[None]:
        """Around one request: at once, or one after another while the endpoint seems to be gone.

        Raises StoppedError once it is given up.
        """
        if not self._doubtful:
            yield
            return
        async with self._line:
            await self._wait()
            yield

    def answered(self) -> None:
        """The endpoint deals with requests."""
        self._refused, self._denied, self._answered = 0, False, True
        self._pauses = list(PAUSES_S)

    def failed(self, error: UnavailableError) -> None:
        """A request came to nothing with all its tries; one that was too late says nothing."""
        if error.unreachable or error.status is not None:
            self.refused(error.status, str(error))

    def refused(self, status: int | None, said: str) -> None:
        """A request came to nothing: with this status, or without a connection (None)."""
        if status is not None and status not in DENIED | NOBODY:
            self.answered()
            return
        self._refused, self._denied, self._said = self._refused + 1, status in DENIED, said

    @property
    def _doubtful(self) -> bool:
        """A key that never was good needs no long proof; one that was may be no good for some."""
        hopeless = self._denied and not self._answered
        return self._refused >= (UNAUTHORIZED if hopeless else REFUSED)

    async def _wait(self) -> None:
        """Until a request may be sent."""
        if self._stopped is None and self._doubtful:
            if self._answered and self._pauses and not self._denied:
                await asyncio.sleep(self._pauses.pop(0))
            else:
                why = f"{self._said}; {self._key}" if self._denied else self._said
                self._stopped = f"the endpoint refused {self._refused} requests in a row: {why}"
        if self._stopped is not None:
            raise StoppedError(f"not asked: {self._stopped}")
