"""Turns: no more of something in a second than its owner allows."""

from __future__ import annotations

import asyncio

from rayeval.live.retry import LONGEST_WAIT_S


class Turns:
    """So many a second at most, evenly spaced: requests, or tokens."""

    def __init__(self, rate_per_s: float | None) -> None:
        self._gap_s = 0.0 if rate_per_s is None else 1 / rate_per_s
        self._free_s = 0.0

    def begin(self) -> None:
        """On the event loop that now runs: its clock is the one that counts."""
        self._free_s = max(self._free_s, asyncio.get_running_loop().time())

    async def next(self, amount: float = 1.0) -> None:
        """Waits for the turn of one who takes `amount`."""
        now = asyncio.get_running_loop().time()
        turn = max(now, self._free_s)
        self._free_s = turn + amount * self._gap_s
        if turn > now:
            await asyncio.sleep(turn - now)

    def give_back(self, amount: float) -> None:
        """Of what was taken, so much was not needed (less than 0: it was too little)."""
        self._free_s -= amount * self._gap_s

    def hold(self, seconds: float) -> None:
        """Nobody's turn until the server has had the pause that it asked of one."""
        if seconds:
            until = asyncio.get_running_loop().time() + min(seconds, LONGEST_WAIT_S)
            self._free_s = max(self._free_s, until)
