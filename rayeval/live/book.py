"""When an endpoint is free again: known to one object, or to all who share a folder."""

from __future__ import annotations

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Protocol

from rayeval.errors import InfrastructureError

Times = dict[str, float]
"""What is limited → from when on there is more of it, by the book's clock, in seconds."""


class Book(Protocol):
    """Times that may be read and changed by one at a time."""

    look_s: float
    """How often to look whether somebody else has changed them."""

    def now(self) -> float:
        """By the clock of these times."""
        ...

    def opened(self) -> AbstractContextManager[Times]:
        """The times, to be changed."""
        ...


class Own:
    """Of one object in one process."""

    look_s = float("inf")

    def __init__(self) -> None:
        self._times: Times = {}

    def now(self) -> float:
        """A clock that nobody sets."""
        return time.monotonic()

    @contextmanager
    def opened(self) -> Iterator[Times]:
        """The times, to be changed."""
        yield self._times


class Shared:
    """A file that all processes of all runs over one store read and write, one after another.

    By the machines' clocks, so several machines are as exact as these are. Where the file system
    has no locks, two that write at once may both go.
    """

    look_s = 0.25

    def __init__(self, path: str) -> None:
        self._path = Path(path)

    def now(self) -> float:
        """A clock that all processes have."""
        return time.time()

    @contextmanager
    def opened(self) -> Iterator[Times]:
        """The times, to be changed; a file that is none is begun anew."""
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise InfrastructureError(f"can't write {self._path}: {error}") from error
        try:
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_EX)
            times = _times(os.pread(handle, 4096, 0))
            yield times
            data = json.dumps(times).encode()
            os.pwrite(handle, data, 0)
            os.ftruncate(handle, len(data))
        finally:
            os.close(handle)


def _times(data: bytes) -> Times:
    try:
        found = json.loads(data)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
