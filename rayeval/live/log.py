"""Answers that were paid for: what reached this log is never asked for again (DESIGN §9, law 8)."""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from rayeval import files
from rayeval.errors import InfrastructureError

_ANSWER = re.compile(rb'\{"request": "([^"\\]+)", "answer": ')
"""How the line of an answer begins: whole lines are read only when they are wanted."""
Place = tuple[Path, int, int]
"""A line: its file, where it starts, its bytes."""


class Log(Protocol):
    """Answers by the digest of their request."""

    def get(self, digest: str) -> Any:
        """What was answered; None where nothing was."""
        ...

    def put(self, digest: str, answer: Any) -> None:
        """Keeps an answer; it outlives this process once this returns."""
        ...

    def note(self, row: dict[str, Any]) -> None:
        """Keeps what is no answer, for whoever reads the log."""
        ...

    def notes(self) -> Iterator[dict[str, Any]]:
        """What was noted, in no order."""
        ...


def log_in(folder: str) -> Log:
    """The log in a folder, wherever it is."""
    return Objects(folder) if files.is_uri(folder) else Lines(folder)


class Nothing:
    """A log that keeps nothing: what is timed has to be asked."""

    def get(self, digest: str) -> Any:
        """Nothing."""
        return None

    def put(self, digest: str, answer: Any) -> None:
        """Forgets it."""

    def note(self, row: dict[str, Any]) -> None:
        """Forgets it."""

    def notes(self) -> Iterator[dict[str, Any]]:
        """Nothing."""
        return iter(())


class Lines:
    """JSON Lines in a local folder: a file of every process that writes, read by all later ones.

    In memory are only places. A line that a killed process or a full disk left unfinished doesn't
    count.
    """

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._places: dict[str, Place] = {}
        self._earlier: dict[str, list[Place]] = {}
        for path in sorted(self._folder.glob("*.jsonl")):
            for line, start in _lines(path):
                if head := _ANSWER.match(line):
                    self._keep(head[1].decode(), (path, start, len(line)))
        self._path = self._folder / f"{uuid.uuid4().hex}.jsonl"

    def get(self, digest: str) -> Any:
        """What was answered; None where nothing was."""
        if digest not in self._places:
            return None
        places = [self._places[digest], *reversed(self._earlier.get(digest, ()))]
        rows = filter(None, map(_read, places))
        return next((row.get("answer") for row in rows), None)

    def put(self, digest: str, answer: Any) -> None:
        """Appends a line, which the system has when this returns."""
        self._keep(digest, (self._path, *self._append({"request": digest, "answer": answer})))

    def _keep(self, digest: str, place: Place) -> None:
        """The last line of a digest counts, unless it is damaged."""
        if digest in self._places:
            self._earlier.setdefault(digest, []).append(self._places[digest])
        self._places[digest] = place

    def note(self, row: dict[str, Any]) -> None:
        """Appends a line."""
        self._append(row)

    def notes(self) -> Iterator[dict[str, Any]]:
        """Of all processes, as far as they have written."""
        for path in sorted(self._folder.glob("*.jsonl")):
            for line, _ in _lines(path):
                row = None if _ANSWER.match(line) else _row(line)
                if row is not None:
                    yield row

    def _append(self, row: dict[str, Any]) -> tuple[int, int]:
        """(start, size in bytes) of the line."""
        data = json.dumps(row).encode() + b"\n"
        try:
            handle = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
            try:
                start, left = os.fstat(handle).st_size, data
                while left:
                    left = left[os.write(handle, left) :]
            finally:
                os.close(handle)
        except OSError as error:
            raise InfrastructureError(f"can't write {self._path}: {error}") from error
        return start, len(data)


class Objects:
    """An object of every answer, for stores that can't append."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def get(self, digest: str) -> Any:
        """What was answered; None where nothing was."""
        path = f"{self._folder}/{digest}.json"
        row = _row(files.read_bytes(path)) if files.exists(path) else None
        return None if row is None else row.get("answer")

    def put(self, digest: str, answer: Any) -> None:
        """Writes the object."""
        files.write_bytes(f"{self._folder}/{digest}.json", json.dumps({"answer": answer}).encode())

    def note(self, row: dict[str, Any]) -> None:
        """Writes an object of its own."""
        path = f"{self._folder}/notes/{uuid.uuid4().hex}.json"
        files.write_bytes(path, json.dumps(row).encode())

    def notes(self) -> Iterator[dict[str, Any]]:
        """Of all processes."""
        folder = f"{self._folder}/notes"
        for name in files.list_files(folder):
            row = _row(files.read_bytes(f"{folder}/{name}"))
            if row is not None:
                yield row


def _lines(path: Path) -> Iterator[tuple[bytes, int]]:
    """Every whole line and where it starts."""
    start = 0
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield line, start
            start += len(line)


def _read(place: Place) -> dict[str, Any] | None:
    path, start, size = place
    with path.open("rb") as file:
        file.seek(start)
        return _row(file.read(size))


def _row(line: bytes) -> dict[str, Any] | None:
    """What a line holds; None where it is damaged, or two, the first of them unfinished."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None
