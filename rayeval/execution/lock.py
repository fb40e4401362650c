"""One process at a run: two that write its files would mix them."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow.fs as pafs

from rayeval import files
from rayeval.errors import RunError


@contextmanager
def held(folder: str, *, wait: bool = False) -> Iterator[None]:
    """Holds a run's folder; the system lets go of it when this process ends, however it does.

    wait: until another process has let go, rather than refusing.

    Object stores have no locks: there, as on file systems without them, nobody is kept out.
    Raises RunError while another process holds it, unless told to wait.
    """
    fs, inner = files.open_fs(folder)
    if not isinstance(fs, pafs.LocalFileSystem):
        yield
        return
    handle = os.open(inner, os.O_RDONLY)
    try:
        _lock(handle, folder, 0 if wait else fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, folder: str, how: int) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | how)
    except BlockingIOError as error:
        raise RunError(
            f"another process is at the run {folder}: let it finish, or end it and resume then"
        ) from error
    except OSError:
        return
