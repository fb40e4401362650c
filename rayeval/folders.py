"""Local folders, links and all, and what stands in the way of one."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path

from rayeval.errors import ConfigError, InfrastructureError


def below(root: str) -> Iterator[str]:
    """The files of a local folder; none where there is no folder."""
    waiting = [("", frozenset[tuple[int, int]]())]
    while waiting:
        prefix, above = waiting.pop()
        here, entries = _entries(f"{root}/{prefix}")
        if here in above:
            continue
        for entry in entries:
            kind = Path(entry.path) if entry.is_symlink() else entry
            if kind.is_dir():
                waiting.append((f"{prefix}{entry.name}/", above | {here}))
            elif kind.is_file():
                yield f"{prefix}{entry.name}"


def dangling(root: str) -> Iterator[tuple[str, str]]:
    """(name, where it leads) of every link below a local folder that leads nowhere."""
    for folder, _, names in os.walk(root):
        for name in names:
            place = Path(folder) / name
            if place.is_symlink() and not place.exists():
                yield str(place.relative_to(root)), str(place.readlink())


def in_the_way(path: str) -> str | None:
    """The first file among a local path and the folders that it lies in."""
    whole = Path(path).absolute()
    return next((str(p) for p in (*reversed(whole.parents), whole) if p.is_file()), None)


def unwritten(
    path: str, folder: str, error: OSError, *, local: bool
) -> ConfigError | InfrastructureError:
    """What to raise where `path`, in `folder`, can't be written."""
    if error.errno == errno.EISDIR:
        return ConfigError(f"can't write {path!r}: that is a folder; name a file")
    if local and (file := in_the_way(folder)):
        return ConfigError(
            f"can't write {path}: {file} is a file, not a folder; name another place"
        )
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return ConfigError(f"can't write {path}: you may not write there; name another place")
    return InfrastructureError(f"can't write {path}: {error}")


def _entries(folder: str) -> tuple[tuple[int, int], list[os.DirEntry[str]]]:
    """Which folder it is, whatever it is called, and what it holds; nothing once it is gone."""
    try:
        place = Path(folder).stat()
        with os.scandir(folder) as entries:
            return (place.st_dev, place.st_ino), list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return (0, 0), []
