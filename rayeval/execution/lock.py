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
def held(folder: str) -> Iterator[None]:
    """Holds a run's folder; the system lets go of it when this process ends, however it does.

    Object stores have no locks: there, as on file systems without them, nobody is kept out.
    Raises RunError while another process holds it.
    """
    fs, inner = files.open_fs(folder)
    if not isinstance(fs, pafs.LocalFileSystem):
        yield
        return
    handle = os.open(inner, os.O_RDONLY)
    try:
        _lock(handle, folder)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, folder: str) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise RunError(
            f"another process is at the run {folder}: let it finish, or end it and resume then"
        ) from error
    except OSError:
        return
