"""Local folders, links and all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path


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


def _entries(folder: str) -> tuple[tuple[int, int], list[os.DirEntry[str]]]:
    """Which folder it is, whatever it is called, and what it holds; nothing once it is gone."""
    try:
        place = Path(folder).stat()
        with os.scandir(folder) as entries:
            return (place.st_dev, place.st_ino), list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return (0, 0), []
