"""The recorder: what a live pipeline found for a question, as a line of DESIGN §3's trace.

Loads the standard library alone. A question's line is written when its `with` block ends, in one
go and under a lock (`rayeval.appending`), so threads, asyncio tasks and several processes, forked
ones too, may append to one file. A crash loses only the questions that were under way: the line
that it tore is closed by the next, left out where the trace is scored, and named there. The system
has the line when the block ends (it survives the process); whether the disk has it when the power
fails is the system's affair.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from rayeval.appending import append
from rayeval.errors import (
    ConfigError,
    InfrastructureError,
    InputError,
    RayevalError,
    RowError,
    plain,
    text_of,
)
from rayeval.hits import RESERVED, Hit, halved, hits_of, id_of, ordered, reserved
from rayeval.scalars import plain as plain_value
from rayeval.scalars import real, shown

PATH = "RAYEVAL_TRACE"
"""The environment variable that names the file."""

ENDINGS = (".jsonl", ".ndjson")
"""By which a file is read as lines of JSON."""

HALVED = "it holds half of a surrogate pair, which is no character"


class Trace:
    """One question under way; `rayeval.trace` makes them."""

    def __init__(self, question_id: str, path: str | os.PathLike[str] | None = None) -> None:
        if not isinstance(question_id, str) or not question_id:
            said = f"question_id is {shown(question_id)}; expected text that is not empty"
            raise ConfigError(said)
        if halved(question_id):
            raise ConfigError(f"question_id is {shown(question_id)}; {HALVED}")
        self.path = _file(path)
        self._stages: dict[str, dict[str, Any]] = {}
        self._row: dict[str, Any] = {"question_id": str(question_id), "stages": self._stages}
        self._lock = threading.Lock()
        self._entered = False
        self._process: int | None = None
        """In which its block is under way."""

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
        if name in RESERVED:
            raise InputError(f"{self._place(name)}: {reserved(name)}")
        time = None if latency_ms is None else real(latency_ms)
        if latency_ms is not None and (time is None or not 0 <= time < float("inf")):
            said = f"latency_ms is {shown(latency_ms)}; expected milliseconds, 0 or more"
            raise InputError(f"{self._place(name)}: {said}")
        found = self._hits(name, hits)
        with self._under_way(name):
            if name in self._stages or name in self._row.keys() & {"context"}:
                raise InputError(f"{self._place(name)}: it is recorded already")
            taken = {} if time is None else {"latency_ms": time}
            self._stages[str(name)] = {"hits": found, **taken}

    def context(self, passages: Sequence[Any]) -> None:
        """What was handed to the generator; forms as in `stage`.

        Raises InputError for what is no hit, and if it, or a stage of this name, is there already.
        """
        found = self._hits("context", passages)
        with self._under_way("context"):
            if "context" in self._row or "context" in self._stages:
                raise InputError(f"{self._place('context')}: it is recorded already")
            self._row["context"] = found

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
        Raises InputError for what is none of these, and for a second answer: one given again later
        is a line of its own, with its number as `repeat`, which only a file of yours can have.
        """
        if text is not None and not isinstance(text, str):
            raise InputError(f"{self._place('answer')}: expected text, got {type(text).__name__}")
        if text is not None and halved(text):
            raise InputError(f"{self._place('answer')}: {HALVED}")
        abstained = plain_value(abstained)
        if abstained is not None and not isinstance(abstained, bool):
            said = f"abstained is {shown(abstained)}; expected True, False or None"
            raise InputError(f"{self._place('answer')}: {said}")
        names = None if citations is None else self._cited(citations)
        known = {"abstained": abstained, "citations": names}
        given = {name: value for name, value in known.items() if value is not None}
        if text is None and abstained is None:
            text = ""  # null would be the same as no answer recorded
        with self._under_way("answer"):
            if "answer" in self._row:
                raise InputError(f"{self._place('answer')}: it is recorded already")
            self._row |= {"answer": text, **given}

    def __enter__(self) -> Self:
        with self._lock:
            if self._entered:
                raise InputError(
                    f"question {self._row['question_id']!r}: its block was entered before, and one "
                    "block is one line; make another `rayeval.trace(…)` for another question"
                )
            self._entered, self._process = True, os.getpid()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Writes the line; an exception is its `error`, and goes on to the caller.

        Raises InfrastructureError, or ConfigError for no file's path, if it can't be written and
        nothing else was raised; else that is a note of the exception.
        """
        if self._process != os.getpid():
            return  # a child that was forked within the block: the line is its parent's
        with self._lock:
            self._process = None
        if error is not None:
            self._row["error"] = text_of(error)
        try:
            self._append()
        except RayevalError as failure:
            if error is None:
                raise
            error.add_note(f"rayeval: {failure}")

    def _append(self) -> None:
        line = json.dumps(self._row, ensure_ascii=False, allow_nan=False).encode()
        lost = f"question {self._row['question_id']!r} is not recorded"
        try:
            append(self.path, line)
        except (IsADirectoryError, NotADirectoryError, FileExistsError, ValueError) as error:
            said = f"{lost}: {self.path!r} can't be a file: {plain(str(error))}"
            raise ConfigError(f"{said}. Give another path") from error
        except OSError as error:
            said = f"{lost}: {self.path!r} can't be written: {plain(str(error))}"
            raise InfrastructureError(said) from error

    @contextmanager
    def _under_way(self, name: str) -> Iterator[None]:
        """The row is this thread's. Raises InputError outside of the block."""
        if self._process not in (None, os.getpid()):  # whose threads may hold the lock for ever
            raise InputError(
                f"{self._place(name)}: the block was entered in another process, which writes its "
                "line; enter one in this process"
            )
        with self._lock:
            if self._process is None:
                raise InputError(
                    f"{self._place(name)}: recorded outside of its block, where nothing is "
                    "written; record within `with rayeval.trace(…) as t:`"
                )
            yield

    def _hits(self, name: str, hits: Sequence[Any]) -> list[Hit]:
        try:
            return hits_of(hits)
        except RowError as error:
            raise InputError(f"{self._place(name)}: {error}") from error

    def _cited(self, citations: Sequence[str]) -> list[str]:
        """Ids as text, as those of hits are."""
        if not isinstance(citations, str | bytes | Mapping) and ordered(citations):
            names = [id_of(name) for name in citations]
            if None not in names:
                return [name for name in names if name is not None]
        said = f"citations are {shown(citations)}; expected a list of ids, each of them text"
        raise InputError(f"{self._place('answer')}: {said}")

    def _place(self, name: str) -> str:
        return f"question {self._row['question_id']!r}, stage {name!r}"


def _file(path: str | os.PathLike[str] | None) -> str:
    """The file's name. Raises ConfigError for one that could not be scored later."""
    given = os.environ.get(PATH) or "trace.jsonl" if path is None else path
    name = os.fspath(given) if isinstance(given, str | os.PathLike) else None
    if not isinstance(name, str) or not name or "\0" in name:
        raise ConfigError(f"path is {shown(path)}; expected the path of a file")
    if not name.lower().endswith(ENDINGS):
        raise ConfigError(
            f"path is {shown(name)}; expected a name that ends in {' or '.join(ENDINGS)}: the "
            "recorder writes lines of plain text, and a trace is read by its name"
        )
    return name
