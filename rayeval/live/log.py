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
        self._places: dict[str, tuple[Path, int, int]] = {}
        for path in sorted(self._folder.glob("*.jsonl")):
            for line, start in _lines(path):
                if head := _ANSWER.match(line):
                    self._places[head[1].decode()] = (path, start, len(line))
        self._path = self._folder / f"{uuid.uuid4().hex}.jsonl"

    def get(self, digest: str) -> Any:
        """What was answered; None where nothing was."""
        if digest not in self._places:
            return None
        path, start, size = self._places[digest]
        with path.open("rb") as file:
            file.seek(start)
            row = _row(file.read(size))
        return None if row is None else row["answer"]

    def put(self, digest: str, answer: Any) -> None:
        """Appends a line, which the system has when this returns."""
        self._places[digest] = (self._path, *self._append({"request": digest, "answer": answer}))

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
        return files.read_json(path)["answer"] if files.exists(path) else None

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
            yield files.read_json(f"{folder}/{name}")


def _lines(path: Path) -> Iterator[tuple[bytes, int]]:
    """Every whole line and where it starts."""
    start = 0
    with path.open("rb") as file:
        for line in file:
            if line.endswith(b"\n"):
                yield line, start
            start += len(line)


def _row(line: bytes) -> dict[str, Any] | None:
    """What a line holds; None where it is two, the first of them unfinished."""
    try:
        row: dict[str, Any] = json.loads(line)
    except ValueError:
        return None
    return row
