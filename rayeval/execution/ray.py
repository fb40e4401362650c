"""The same steps on a Ray cluster.

Partitions of produce and map steps go through Ray Data: models in actor pools (on GPUs where
placement has them), the rest as tasks. For a scatter step, actors hold the shards; every block of
questions goes to all of them and a task merges their answers: nothing of question × depth size
reaches the driver.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import pyarrow as pa
import ray
import ray.data
from ray import exceptions

from rayeval.columns import Floats
from rayeval.errors import InfrastructureError
from rayeval.execution import calls, inputs
from rayeval.execution.cluster import OURS
from rayeval.execution.executor import Served, shard_count
from rayeval.execution.failures import Failure, checked, guarded
from rayeval.execution.placement import Placement
from rayeval.execution.ray_sums import total
from rayeval.execution.step import Step
from rayeval.execution.store import Commit, Output
from rayeval.execution.worker import Worker, merge


class RayExecutor:
    """Workers of the cluster at `address`, or of a Ray of our own."""

    lost = (
        exceptions.RaySystemError, exceptions.RayActorError, exceptions.WorkerCrashedError,
        exceptions.NodeDiedError, exceptions.OutOfMemoryError, exceptions.ObjectLostError,
        exceptions.LocalRayletDiedError,
    )  # fmt: skip

    def __init__(self, root: str, placement: Placement, address: str) -> None:
        self.root, self.placement = root, placement
        self.ours = not ray.is_initialized()
        if self.ours:
            connect(address)
        self.hosts: dict[tuple[bool, int], Any] = {}

    def call(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        """`function` of every item, in order."""
        remote = ray.remote(guarded)
        return [checked(ray.get(ref)) for ref in [remote.remote(function, i) for i in items]]

    def total(self, function: Callable[[Any], Floats], items: Sequence[Any]) -> Floats:
        """Σ `function(item)`: every task adds up its own share, the driver those of the tasks."""
        return total(function, items, self.placement)

    def compute(self, step: Step, parts: Sequence[int]) -> Iterator[Commit]:
        """Partitions of a step, as they are finished."""
        yield from self._scatter(step, parts) if step.kind == "scatter" else self._map(step, parts)

    def serve(self, step: Step) -> Served:
        """The step on the actors that hold its shards (or its model)."""
        scatters = step.kind == "scatter"
        count = shard_count(self.root, step, self.placement.shards) if scatters else 1
        hosts = [self._host(step, number) for number in range(count)]

        def ask(batch: pa.Table) -> pa.Table:
            refs = [h.answer.remote(step, batch, n, count) for n, h in enumerate(hosts)]
            answers = [checked(answer) for answer in ray.get(refs)]
            if not scatters:
                return answers[0]
            return calls.gathered(step.make(), batch, answers, step.schema)

        return ask

    def close(self) -> None:
        """Frees the actors; ends Ray if it was started here."""
        self.hosts.clear()
        if self.ours:
            ray.shutdown()

    def _map(self, step: Step, parts: Sequence[int]) -> Iterator[Commit]:
        rows = [{"part": part} for part in parts]
        workers = min(self._workers(step), len(parts))
        data = ray.data.from_items(rows, override_num_blocks=len(rows))
        common = {"batch_size": 1, "batch_format": "pyarrow", **self._resources(step)}
        state = (self.root, self.placement.batch, step)
        if step.model or step.single:
            strategy = ray.data.ActorPoolStrategy(size=workers)
            data = data.map_batches(Parts, fn_constructor_args=state, compute=strategy, **common)
        else:
            task = partial(_compute, state)
            strategy = ray.data.TaskPoolStrategy(size=workers)
            data = data.map_batches(task, compute=strategy, **common)
        for batch in data.iter_batches(batch_size=1, batch_format="pyarrow", prefetch_batches=0):
            row = batch.to_pylist()[0]
            checked((row["failure"], row["message"]) if row["failure"] else None)
            yield Commit.loads(row["commit"])

    def _scatter(self, step: Step, parts: Sequence[int]) -> Iterator[Commit]:
        count = shard_count(self.root, step, self.placement.shards)
        hosts = [self._host(step, number) for number in range(count)]
        load, join = ray.remote(_load), ray.remote(_merge)
        flying: dict[Any, int] = {}
        todo = list(reversed(parts))
        while todo or flying:
            while todo and len(flying) < 2 * count + 2:
                part, started = todo.pop(), time.time()
                batch = load.remote(self.root, step, part)
                answers = [h.answer.remote(step, batch, n, count) for n, h in enumerate(hosts)]
                flying[join.remote(self.root, step, part, started, batch, *answers)] = part
            done, _ = ray.wait(list(flying), num_returns=1)
            for ref in done:
                flying.pop(ref)
                yield Commit.loads(checked(ray.get(ref)))
        ray.get([host.forget.remote(step) for host in hosts])

    def _host(self, step: Step, number: int) -> Any:
        """The actor that holds shard `number`; one set for models, one for the rest."""
        place = (step.model, number)
        if place not in self.hosts:
            options: dict[str, Any] = {"num_cpus": 0, "max_restarts": -1, "max_task_retries": -1}
            options |= {"scheduling_strategy": "SPREAD"}
            options |= self._own(step)
            actor = ray.remote(Host).options(**options)
            self.hosts[place] = actor.remote(self.root, self.placement.batch)
        return self.hosts[place]

    def _workers(self, step: Step) -> int:
        """As placed, but never more than the cluster can start at once, or the step bears."""
        if step.single:
            return 1
        have = ray.cluster_resources()
        fit = int(have.get("CPU", 1) / self.placement.cpus)
        if step.model and self.placement.gpus:
            fit = min(fit, int(have.get("GPU", 0) / self.placement.gpus))
        if fit < 1:
            raise InfrastructureError(
                f"placement asks for {self.placement.cpus} CPUs and {self.placement.gpus} GPUs a "
                f"worker; the cluster has {have.get('CPU', 0):g} and {have.get('GPU', 0):g}."
            )
        return min(self.placement.workers, fit)

    def _resources(self, step: Step) -> dict[str, Any]:
        return {"num_cpus": self.placement.cpus, **self._own(step)}

    def _own(self, step: Step) -> dict[str, Any]:
        """What only a model's worker gets."""
        own = {"num_gpus": self.placement.gpus, "runtime_env": self.placement.runtime_env}
        return {name: value for name, value in own.items() if value} if step.model else {}


class Parts:
    """A worker of Ray Data that keeps one step's stage."""

    def __init__(self, root: str, batch_rows: int, step: Step) -> None:
        self.worker, self.step = Worker(root, batch_rows), step

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Computes the partition that the only row of `batch` names."""
        result = guarded(partial(self.worker.compute, self.step), batch["part"][0].as_py())
        failed = isinstance(result, tuple)
        return pa.table(
            {
                "commit": pa.array([None if failed else result.dumps()], pa.string()),
                "failure": pa.array([result[0] if failed else None], pa.string()),
                "message": pa.array([result[1] if failed else None], pa.string()),
            }
        )


class Host:
    """An actor that answers for shards."""

    def __init__(self, root: str, batch_rows: int) -> None:
        self.worker = Worker(root, batch_rows)

    def answer(self, step: Step, batch: Any, number: int, count: int) -> pa.Table | Failure:
        """One shard's answer to a batch."""
        if isinstance(batch, tuple):
            return batch
        return guarded(lambda b: self.worker.answer(step, b, number, count), batch)

    def forget(self, step: Step) -> None:
        """Frees what was built for `step`."""
        self.worker.forget(step)


_latest: list[tuple[str, Parts]] = []


def _compute(state: tuple[str, int, Step], batch: pa.Table) -> pa.Table:
    """A task: as the actor, with the stage kept while this process meets the same step."""
    if not _latest or _latest[0][0] != state[2].key:
        _latest[:] = [(state[2].key, Parts(*state))]
    return _latest[0][1](batch)


def _load(root: str, step: Step, part: int) -> pa.Table | Failure:
    return guarded(partial(inputs.batch, root, step), part)


def _merge(root: str, step: Step, part: int, started: float, batch: Any, *answers: Any) -> Any:
    for failure in (batch, *answers):
        if isinstance(failure, tuple):
            return failure

    def run(part: int) -> str:
        table = calls.gathered(step.make(), batch, answers, step.schema)
        return merge(Output(root, step.key), part, table, started=started).dumps()

    return guarded(run, part)


def connect(address: str) -> None:
    """Joins the cluster at `address`, or starts a Ray on this machine alone (`local`)."""
    own = {"include_dashboard": False, "_node_ip_address": "127.0.0.1"}
    try:
        ray.init(
            address,
            log_to_driver=False,
            configure_logging=False,
            **(own if address == OURS else {}),
        )
    except Exception as error:  # a node that doesn't come up is a bare Exception
        what = "start Ray here" if address == OURS else f"reach Ray at {address}"
        raise InfrastructureError(f"can't {what}: {error}") from error
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
