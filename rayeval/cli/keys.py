"""Single keys from a terminal."""

from __future__ import annotations

import codecs
import os
import select
import signal
import socket
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

from rayeval.cli import options

END = "\x04"
"""Ctrl-D, or the end of the input."""


class Keys:
    """Keys one by one, as fast as they are typed: none is lost while the last one is worked on.

    Args:
        source: The terminal.
        signals: Becomes readable when a signal arrives: one that comes just before the wait
            begins would otherwise be seen after it, which is never.
    """

    def __init__(self, source: int, signals: socket.socket) -> None:
        self._source, self._signals, self._waiting = source, signals, ""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def next(self, allowed: str, *, end: str) -> str:
        """The next key that is one of `allowed`, whatever its case; `end` when there is no more."""
        while True:
            for key in self._typed():
                if key == END:
                    return end
                if key in allowed:
                    options.say(key)
                    return key

    def _typed(self) -> Iterator[str]:
        """What was typed and not yet taken; an arrow or a function key is no letter."""
        if not self._waiting:
            # A library's handler may restart a read that Ctrl-C interrupts; a wait it never does.
            waited = [self._source, self._signals.fileno()]
            while self._source not in select.select(waited, [], [])[0]:
                self._signals.recv(1024)  # whoever handles the signal has done so by now
            data = os.read(self._source, 1024)
            text = self._decoder.decode(data) if data else END
            self._waiting = "" if text.startswith("\x1b") else text.lower()
        while self._waiting:
            key, self._waiting = self._waiting[0], self._waiting[1:]
            yield key


@contextmanager
def keys() -> Iterator[Keys]:
    """The terminal at stdin without echo and line ends; as it was, afterwards."""
    source = sys.stdin.fileno()
    before = termios.tcgetattr(source)
    with _signals() as signals:
        try:
            tty.setcbreak(source, termios.TCSADRAIN)
            yield Keys(source, signals)
        finally:
            termios.tcsetattr(source, termios.TCSADRAIN, before)


@contextmanager
def _signals() -> Iterator[socket.socket]:
    """A socket with a byte for each signal of this process."""
    here, there = socket.socketpair()
    with here, there:
        there.setblocking(False)
        before = signal.set_wakeup_fd(there.fileno(), warn_on_full_buffer=False)
        try:
            yield here
        finally:
            signal.set_wakeup_fd(before)
