"""Turns: no more of something in a second than its owner allows."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress

from rayeval.live.book import Book, Own
from rayeval.live.retry import LONGEST_WAIT_S, UnavailableError

HELD = "held"
"""What a book calls the pause that a server asked for; it is of all that is limited."""


class Turns:
    """So many a second at most, evenly spaced, first come first served: requests, or tokens.

    Holds for all that share its book, from whatever process they ask; without one, for what this
    object is asked for.
    """

    def __init__(
        self, rate_per_s: float | None, book: Book | None = None, name: str = "requests"
    ) -> None:
        self._gap_s = 0.0 if rate_per_s is None else 1 / rate_per_s
        self._book, self._name = book or Own(), name
        self._held_s = 0.0
        self.begin()

    def begin(self) -> None:
        """On the event loop that now runs."""
        self._queue, self._changed = asyncio.Lock(), asyncio.Event()

    async def next(self, amount: float = 1.0) -> None:
        """Waits for the turn of one who takes `amount`.

        Raises UnavailableError, at once, during a pause that is too long to wait for.
        """
        async with self._queue:
            while (wait_s := self._taken(amount)) > 0:
                self._changed.clear()
                with suppress(TimeoutError):
                    async with asyncio.timeout(min(wait_s, self._book.look_s)):
                        await self._changed.wait()

    def give_back(self, amount: float) -> None:
        """Of what was taken, so much was not needed (less than 0: it was too little)."""
        if self._gap_s:
            with self._book.opened() as times:
                times[self._name] = times.get(self._name, 0.0) - amount * self._gap_s
        self._changed.set()

    def hold(self, seconds: float) -> None:
        """Nobody's turn until the server has had the pause that it asked of one.

        A pause too long to wait for is this object's alone: others may have another key by then.
        """
        self._held_s = max(self._held_s, time.monotonic() + seconds)
        if 0 < seconds <= LONGEST_WAIT_S:
            with self._book.opened() as times:
                times[HELD] = max(times.get(HELD, 0.0), self._book.now() + seconds)
        self._changed.set()

    def _taken(self, amount: float) -> float:
        """Takes it, if it is there; else says in how many seconds to ask again."""
        with self._book.opened() as times:
            now = self._book.now()
            pause_s = max(times.get(HELD, 0.0) - now, self._held_s - time.monotonic())
            wait_s = max(times.get(self._name, 0.0) - now, pause_s)
            if wait_s <= 0:
                times[self._name] = now + amount * self._gap_s
        if pause_s > LONGEST_WAIT_S:
            raise UnavailableError(f"it wants no request for over {LONGEST_WAIT_S:g} s", pause_s)
        return wait_s
