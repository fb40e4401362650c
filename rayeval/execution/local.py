"""Plain processes on one machine: the reference that Ray must equal.

Partitions of produce and map steps go to a pool of processes, or to threads of this process where
the step bears it; an index is in memory once, in this process, and its libraries use threads.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from typing import Any

import pyarrow as pa

from rayeval.columns import Floats
from rayeval.execution import calls, inputs
from rayeval.execution.executor import Served, added, shard_count
from rayeval.execution.placement import Placement
from rayeval.execution.step import Step
from rayeval.execution.store import Commit, Output
from rayeval.execution.threads import AT_ONCE
from rayeval.execution.worker import Worker, merge


class LocalExecutor:
    """One process, or a pool of `workers`."""

    lost = (BrokenProcessPool,)

    def __init__(self, root: str, placement: Placement) -> None:
        self.root, self.workers, self.shards = root, placement.workers, placement.shards
        self.worker = Worker(root, placement.batch)
        self.pool: ProcessPoolExecutor | None = None

    def call(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """`function` of every item, in order."""
        return [function(item) for item in items]

    def total(self, function: Callable[[Any], Floats], items: Sequence[Any]) -> Floats:
        """Σ `function(item)`, in whatever order."""
        if self.workers == 1 or len(items) == 1:
            return added(map(function, items))
        shares = [items[n :: self.workers] for n in range(min(self.workers, len(items)))]
        return added(self._pool().map(partial(_added, function), shares))

    def compute(self, step: Step, parts: Sequence[int]) -> Iterator[Commit]:
        """Partitions of a step, as they are finished."""
        if step.kind == "scatter":
            yield from self._scatter(step, parts)
        elif step.threads and self.workers == 1:
            yield from self._by_threads(step, parts)
        elif self.workers == 1 or len(parts) == 1 or step.single:
            yield from (self.worker.compute(step, part) for part in parts)
        else:
            tasks = [self._pool().submit(_compute, step, part) for part in parts]
            yield from (task.result() for task in as_completed(tasks))
        self.worker.forget(step)

    def serve(self, step: Step) -> Served:
        """The step in this process."""
        if step.kind != "scatter":
            return lambda batch: self.worker.answer(step, batch)
        count = shard_count(self.root, step, self.shards)
        return lambda batch: self._ask(step, batch, count)

    def close(self) -> None:
        """Ends the pool and frees every stage."""
        if self.pool is not None:
            self.pool.shutdown(cancel_futures=True)
        self.worker.stages.clear()

    def _by_threads(self, step: Step, parts: Sequence[int]) -> Iterator[Commit]:
        self.worker.stage(step)  # before several ask for it
        pool = ThreadPoolExecutor(AT_ONCE)
        try:
            tasks = [pool.submit(self.worker.compute, step, part) for part in parts]
            yield from (task.result() for task in as_completed(tasks))
        finally:
            pool.shutdown(cancel_futures=True)

    def _scatter(self, step: Step, parts: Sequence[int]) -> Iterator[Commit]:
        count = shard_count(self.root, step, self.shards)
        for part in parts:
            start = time.time()
            batch = inputs.batch(self.root, step, part)
            table = self._ask(step, batch, count)
            yield merge(Output(self.root, step.key), part, table, started=start)

    def _ask(self, step: Step, batch: pa.Table, count: int) -> pa.Table:
        answers = [self.worker.answer(step, batch, n, count) for n in range(count)]
        return calls.gathered(step.make(), batch, answers, step.schema)

    def _pool(self) -> ProcessPoolExecutor:
        if self.pool is None:
            self.pool = ProcessPoolExecutor(
                self.workers,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_start,
                initargs=(self.root, self.worker.batch_rows),
            )
        return self.pool


def _added(function: Callable[[Any], Floats], items: Sequence[Any]) -> Floats:
    return added(map(function, items))


_worker: list[Worker] = []


def _start(root: str, batch_rows: int) -> None:
    """In a fresh pool process: one worker, which ends when its driver is gone."""
    _worker[:] = [Worker(root, batch_rows)]
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()


def _compute(step: Step, part: int) -> Commit:
    return _worker[0].compute(step, part)


def _end_with_parent(parent: int) -> None:
    """A driver that was killed can't end its pool: the pool watches instead."""
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)
