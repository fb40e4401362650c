"""Progress on stderr: the step, rows done, rate and time left."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from rayeval.execution.store import Commit
from rayeval.report.lines import WIDTH, tell, wrapped
from rayeval.words import plural, verb

SLOW_S = 10.0
"""A step that takes longer says so before it ends; a model may need minutes for one partition."""


class Watcher(Protocol):
    """Told what happens, step by step."""

    def say(self, text: str) -> None:
        """A line for people."""
        ...

    def watch(
        self, name: str, commits: Iterator[Commit], total: int, rows: int
    ) -> Iterator[Commit]:
        """Passes commits through. total: partitions still to do; rows: of all of them, if known."""
        ...

    def cached(self, name: str, rows: int) -> None:
        """The step's output was there already."""
        ...


class Silent:
    """Says nothing: for the Python API and tests."""

    def say(self, text: str) -> None:
        """Says nothing."""

    def watch(
        self, name: str, commits: Iterator[Commit], total: int, rows: int
    ) -> Iterator[Commit]:
        """Passes commits through."""
        return commits

    def cached(self, name: str, rows: int) -> None:
        """Says nothing."""


class Bars(AbstractContextManager["Bars"]):
    """A live bar in a terminal; elsewhere a line when a step ends, and when it takes long."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self.live = console.is_terminal
        self.bars = Progress(
            TextColumn("{task.description:<22}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[said]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
            disable=not self.live,
        )

    def __enter__(self) -> Self:
        self.bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.bars.stop()

    def watch(
        self, name: str, commits: Iterator[Commit], total: int, rows: int
    ) -> Iterator[Commit]:
        """Passes commits through and shows how far they are."""
        start, done = time.monotonic(), 0
        ahead = plural(rows, "row") if rows else ""
        task: TaskID = self.bars.add_task(name, total=total, said=ahead)
        with self._patience(name, ahead):
            for commit in commits:
                done += commit.rows
                rate = done / max(time.monotonic() - start, 1e-9)
                of = f"/{rows:,}" if rows else ""
                self.bars.update(
                    task, advance=1, said=f"{done:,}{of} {verb(done, 'row', 'rows')} {rate:,.0f}/s"
                )
                yield commit
        self.bars.remove_task(task)
        self._line(name, f"{_rows(done)}  {time.monotonic() - start:6.1f} s")

    @contextmanager
    def _patience(self, name: str, ahead: str) -> Iterator[None]:
        """Where no bar moves, a line once the step has taken `SLOW_S`."""
        text = f"{ahead:>14} … still computing".rstrip()
        notice = threading.Timer(SLOW_S, self._line, (name, text))
        notice.daemon = True
        if not self.live:
            notice.start()
        try:
            yield
        finally:
            notice.cancel()

    def say(self, text: str) -> None:
        """A line above the bars."""
        if self.live:
            lines = wrapped(text, min(WIDTH, self.bars.console.width))
            self.bars.console.print(lines, highlight=False, markup=False, soft_wrap=True)
        else:
            tell(text)

    def cached(self, name: str, rows: int) -> None:
        """What came from the store."""
        self._line(name, f"{_rows(rows)}   stored")

    def _line(self, name: str, text: str) -> None:
        self.say(f"  {name:<22} {text}")


def _rows(count: int) -> str:
    """How many, in columns."""
    return f"{count:>9,} {verb(count, 'row', 'rows'):<4}"
