"""Compressed files, known by their last extension and read as what they hold."""

from __future__ import annotations

from pathlib import PurePosixPath

from rayeval.errors import DataError, Problem

CODECS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}
"""Those that pyarrow undoes by itself when it opens a stream."""


def codec(path: str) -> str | None:
    """What the file is packed with, as pyarrow calls it; null: it isn't."""
    return CODECS.get(PurePosixPath(path.lower()).suffix)


def extension(path: str) -> str:
    """In lower case, with its dot; of a packed file that of what is in it."""
    whole = PurePosixPath(path.lower())
    return whole.with_suffix("").suffix if whole.suffix in CODECS else whole.suffix


def refused(path: str, error: OSError) -> DataError | None:
    """What to raise where a packed file can't be unpacked; null where something else failed.

    error: what reading raised. The machine's own errors have a number.
    """
    kind = codec(path)
    if kind is None or error.errno is not None:
        return None
    message = f"the file is cut off, or not {kind} ({error}); write it again"
    return DataError([Problem(path, None, None, "unreadable_file", message)])
