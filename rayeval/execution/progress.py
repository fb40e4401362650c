"""Progress on stderr: the step, rows done, rate and time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from rayeval.execution.store import Commit


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
    """A live bar in a terminal; elsewhere a line when a step ends."""

    def __init__(self) -> None:
        console = Console(stderr=True)
        self.live = console.is_terminal
        self.bars = Progress(
            TextColumn("{task.description:<22}"),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[said]}"),
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
        task: TaskID = self.bars.add_task(name, total=total, said="")
        for commit in commits:
            done += commit.rows
            rate = done / max(time.monotonic() - start, 1e-9)
            of = f"/{rows:,}" if rows else ""
            self.bars.update(task, advance=1, said=f"{done:,}{of} rows {rate:,.0f}/s")
            yield commit
        self.bars.remove_task(task)
        self._line(name, f"{done:>9,} rows  {time.monotonic() - start:6.1f} s")

    def say(self, text: str) -> None:
        """A line above the bars."""
        if self.live:
            self.bars.console.print(text, highlight=False, markup=False)
        else:
            print(text, file=sys.stderr)  # noqa: T201

    def cached(self, name: str, rows: int) -> None:
        """What came from the store."""
        self._line(name, f"{rows:>9,} rows   stored")

    def _line(self, name: str, text: str) -> None:
        self.say(f"  {name:<22} {text}")
