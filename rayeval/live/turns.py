"""Turns: no more of something in a second than its owner allows."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress

from rayeval.live.retry import LONGEST_WAIT_S, UnavailableError


class Turns:
    """So many a second at most, evenly spaced, first come first served: requests, or tokens.

    Holds for all that one object is asked for: one worker has it, so another process that asks
    the same endpoint is another limit.
    """

    def __init__(self, rate_per_s: float | None) -> None:
        self._gap_s = 0.0 if rate_per_s is None else 1 / rate_per_s
        self._free_s = self._held_s = 0.0
        self.begin()

    def begin(self) -> None:
        """On the event loop that now runs."""
        self._queue, self._changed = asyncio.Lock(), asyncio.Event()

    async def next(self, amount: float = 1.0) -> None:
        """Waits for the turn of one who takes `amount`.

        Raises UnavailableError, at once, during a pause that is too long to wait for.
        """
        async with self._queue:
            while (wait_s := self._wait_s()) > 0:
                self._changed.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(wait_s):
                        await self._changed.wait()
            self._free_s = time.monotonic() + amount * self._gap_s

    def give_back(self, amount: float) -> None:
        """Of what was taken, so much was not needed (less than 0: it was too little)."""
        self._free_s -= amount * self._gap_s
        self._changed.set()

    def hold(self, seconds: float) -> None:
        """Nobody's turn until the server has had the pause that it asked of one."""
        self._held_s = max(self._held_s, time.monotonic() + seconds)
        self._changed.set()

    def _wait_s(self) -> float:
        now = time.monotonic()
        if (pause_s := self._held_s - now) > LONGEST_WAIT_S:
            raise UnavailableError(f"it wants no request for over {LONGEST_WAIT_S:g} s", pause_s)
        return max(self._free_s - now, pause_s)
