"""Standard error whose loss changes nothing of what is done."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, TextIO


class Heedless:
    """Writes to `stream` what that takes: a full disk, or a reader that has gone, ends only the
    words. None, as where a shell has closed it: it takes nothing.
    """

    def __init__(self, stream: TextIO | None) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """All of it, as far as whoever writes knows."""
        with suppress(OSError, ValueError):  # ValueError: of a stream that is closed
            if self._stream is not None:
                self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """As `write`."""
        with suppress(OSError, ValueError):
            if self._stream is not None:
                self._stream.flush()

    def isatty(self) -> bool:
        """Whether it is a terminal."""
        with suppress(OSError, ValueError):
            return self._stream is not None and self._stream.isatty()
        return False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
