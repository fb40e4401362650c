"""The recorder: what a live pipeline found for a question, as a line of DESIGN §3's trace.

Loads the standard library alone. A question's line is written when its `with` block ends, in one
go and under a lock, so threads, asyncio tasks and several processes may append to one file, and a
crash loses only the questions that were under way. The system has the line when the block ends (it
survives the process); whether the disk has it when the power fails is the system's affair.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from rayeval.errors import ConfigError, InputError, RowError, text_of
from rayeval.hits import Hit, halved, hits_of, ordered

PATH = "RAYEVAL_TRACE"
"""The environment variable that names the file."""

HALVED = "it holds half of a surrogate pair, which is no character"

_LOCK = threading.Lock()


class Trace:
    """One question under way; `rayeval.trace` makes them."""

    def __init__(self, question_id: str, path: str | os.PathLike[str] | None = None) -> None:
        if not isinstance(question_id, str) or not question_id:
            raise ConfigError(f"question_id is {question_id!r}; expected text that is not empty")
        if halved(question_id):
            raise ConfigError(f"question_id is {question_id!r}; {HALVED}")
        if path is not None and not isinstance(path, str | os.PathLike):
            raise ConfigError(f"path is {path!r}; expected the path of a file")
        self.path = os.fspath(path or os.environ.get(PATH) or "trace.jsonl")
        self._stages: dict[str, dict[str, Any]] = {}
        self._row: dict[str, Any] = {"question_id": question_id, "stages": self._stages}
        self._lock = threading.Lock()

    def stage(self, name: str, hits: Sequence[Any], *, latency_ms: float | None = None) -> None:
        """What a stage found, best first: texts, or mappings with some of DESIGN §3's fields.

        latency_ms: how long it took, if that was measured.
        Raises InputError for what is no hit, no name or no time, and for a stage that is there
        already: one such line would keep the whole file from being scored.
        """
        if not isinstance(name, str) or not name or "\0" in name or halved(name):
            raise InputError(
                f"{self._place(name)}: expected a name of characters that can be shown"
            )
        if latency_ms is not None and not _is_time(latency_ms):
            said = f"latency_ms is {latency_ms}; expected milliseconds, 0 or more"
            raise InputError(f"{self._place(name)}: {said}")
        found = self._hits(name, hits)
        with self._lock:
            if name in self._stages:
                raise InputError(f"{self._place(name)}: it is recorded already")
            taken = {} if latency_ms is None else {"latency_ms": float(latency_ms)}
            self._stages[name] = {"hits": found, **taken}

    def context(self, passages: Sequence[Any]) -> None:
        """What was handed to the generator; forms as in `stage`."""
        self._set(context=self._hits("context", passages))

    def answer(
        self,
        text: str | None,
        *,
        abstained: bool | None = None,
        citations: Sequence[str] | None = None,
    ) -> None:
        """What the pipeline answered; None where it said nothing at all.

        abstained: whether that is a refusal; None: the pipeline doesn't tell. citations: the ids
        that the answer names; None: the pipeline doesn't cite. What is None is not written, so that
        nothing is claimed about it.
        Raises InputError for what is none of these.
        """
        if text is not None and not isinstance(text, str):
            raise InputError(f"{self._place('answer')}: expected text, got {type(text).__name__}")
        if text is not None and halved(text):
            raise InputError(f"{self._place('answer')}: {HALVED}")
        if abstained is not None and not isinstance(abstained, bool):
            said = f"abstained is {abstained!r}; expected True, False or None"
            raise InputError(f"{self._place('answer')}: {said}")
        names = None if citations is None else self._cited(citations)
        known = {"abstained": abstained, "citations": names}
        given = {name: value for name, value in known.items() if value is not None}
        if text is None and abstained is None:
            text = ""  # null would be the same as no answer recorded
        self._set(answer=text, **given)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Writes the line; an exception is its `error`, and goes on to the caller."""
        if error is not None:
            self._set(error=text_of(error))
        _append(self.path, self._row)

    def _set(self, **fields: Any) -> None:
        with self._lock:
            self._row |= fields

    def _hits(self, name: str, hits: Sequence[Any]) -> list[Hit]:
        try:
            return hits_of(hits)
        except RowError as error:
            raise InputError(f"{self._place(name)}: {error}") from error

    def _cited(self, citations: Sequence[str]) -> list[str]:
        """Ids as text, as those of hits are."""
        if not isinstance(citations, str | bytes | Mapping) and ordered(citations):
            listed = list(citations)
            if all(map(_is_id, listed)):
                return [str(name) for name in listed]
        said = f"citations are {citations!r}; expected a list of ids, each of them text"
        raise InputError(f"{self._place('answer')}: {said}")

    def _place(self, name: str) -> str:
        return f"question {self._row['question_id']!r}, stage {name!r}"


def _is_id(name: Any) -> bool:
    """Text that a file can hold, or a whole number."""
    whole = isinstance(name, int) and not isinstance(name, bool)
    return whole or (isinstance(name, str) and name != "" and not halved(name))


def _is_time(value: Any) -> bool:
    """A number of any library, not its text."""
    try:
        return not isinstance(value, str | bytes | bool) and 0 <= float(value) < float("inf")
    except (TypeError, ValueError, OverflowError):
        return False


def _append(path: str, row: Mapping[str, Any]) -> None:
    """One line, whole or not at all for whoever reads after a crash: a torn end is closed first."""
    text = json.dumps(row, ensure_ascii=False, allow_nan=False)
    data = text.encode() + b"\n"
    with _LOCK:
        Path(path).absolute().parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            _hold(handle)
            if _torn(handle):
                data = b"\n" + data
            while data:
                data = data[os.write(handle, data) :]
        finally:
            os.close(handle)


def _torn(handle: int) -> bool:
    """Whether the file ends within a line, as a process leaves it that was killed in a write."""
    size = os.fstat(handle).st_size
    return size > 0 and os.pread(handle, 1, size - 1) != b"\n"


def _hold(handle: int) -> None:
    """Until it is closed, no other process appends; where there are no locks, O_APPEND must do."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX)
    except (ImportError, OSError):
        return
