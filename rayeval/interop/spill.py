"""Values set aside on disk, where there may be more of them than memory holds."""

from __future__ import annotations

import pickle
import tempfile
import weakref
from collections.abc import Iterator
from typing import Generic, TypeVar

from rayeval.errors import InfrastructureError

T = TypeVar("T")

MEMORY_BYTES = 32 << 20
"""What is less than this never reaches the disk."""


class Spill(Generic[T]):
    """Values in a temporary file that nobody else can open, gone with this object.

    First all are added, then they are read: in order, or each by its place.
    """

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=MEMORY_BYTES)  # noqa: SIM115
        self._end = 0
        weakref.finalize(self, self._file.close)

    def add(self, value: T) -> int:
        """Its place. Raises InfrastructureError where the disk has no room."""
        data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
        place = self._end
        try:
            self._file.write(data)
        except OSError as error:
            folder = tempfile.gettempdir()
            raise InfrastructureError(
                f"can't set aside in {folder} what was read: {error}; it takes up to twice the "
                "room of the files: set TMPDIR to a folder that has it"
            ) from error
        self._end += len(data)
        return place

    def at(self, place: int) -> T:
        """The value at a place."""
        return self._read(place)[0]

    def __iter__(self) -> Iterator[T]:
        place = 0
        while place < self._end:
            value, place = self._read(place)
            yield value

    def _read(self, place: int) -> tuple[T, int]:
        """The value, and the place of the one after it."""
        self._file.seek(place)
        value: T = pickle.load(self._file)  # noqa: S301 - nobody else writes to it
        return value, self._file.tell()
