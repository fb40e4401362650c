"""Lines appended to a file by any number of threads and processes, forked ones too.

Threads take turns by a lock of this process, processes by `flock`. Of the locks of files, `flock`
belongs to an open file, `lockf` to a process: that one keeps no two threads apart, and is gone as
soon as anything in the process closes the same file. But a child shares its parent's open files,
and a file that is only closed stays locked until the child ends too. So it is unlocked before it
is closed, which counts for all who share it, and a child first closes what it got of it: else its
parent, killed in between, would leave it locked.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path


class _Turn:
    """Whose turn it is in this process, and the file that is open meanwhile."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.handle: int | None = None


_TURN = _Turn()


def _forked() -> None:
    """A child begins anew: the thread that held the lock is not in it, and never lets go."""
    global _TURN
    before, _TURN = _TURN, _Turn()
    if before.handle is not None:
        os.close(before.handle)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def append(path: str, data: bytes) -> None:
    """`data` as a line of its own, though the file may end within one, as a killed process leaves
    it. Missing folders are made.

    Raises OSError if it can't be written, ValueError for what is no path.
    """
    turn = _TURN
    with turn.lock:
        Path(path).absolute().parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        turn.handle = handle
        try:
            _hold(handle)
            _write(handle, b"\n" + data + b"\n" if _torn(handle) else data + b"\n")
        finally:
            _release(handle)
            turn.handle = None  # before it is closed: then its number may be another file's
            os.close(handle)


def _write(handle: int, data: bytes) -> None:
    while data:
        data = data[os.write(handle, data) :]


def _torn(handle: int) -> bool:
    """Whether the file ends within a line."""
    size = os.fstat(handle).st_size
    return size > 0 and os.pread(handle, 1, size - 1) != b"\n"


def _hold(handle: int) -> None:
    """No other process appends until `_release`; where there are no locks, O_APPEND must do."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX)
    except (ImportError, OSError):
        return


def _release(handle: int) -> None:
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_UN)
    except (ImportError, OSError):
        return
