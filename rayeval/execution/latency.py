"""Latency: one question at a time as users meet it, and throughput for the rest.

The only table of a run that is not deterministic.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa

from rayeval import registry
from rayeval.execution import inputs
from rayeval.execution.driver import Done
from rayeval.execution.executor import Executor, Served
from rayeval.execution.plan.plan import Plan
from rayeval.execution.plan.timed import Timed
from rayeval.execution.step import Step
from rayeval.execution.store import read
from rayeval.tables import TEXT, conform

COUNTERS = (
    "embedded_tokens", "reranked_pairs", "context_tokens", "prompt_tokens", "completion_tokens",
)  # fmt: skip
LATENCY = pa.schema(
    [
        ("question_id", TEXT),
        ("stage", TEXT),
        ("latency_ms", pa.float64()),
        ("mode", TEXT),  # serial | batched | cached
        *((name, pa.int64()) for name in COUNTERS),
        ("cost_usd", pa.float64()),
    ]
)
WARM_UP = 3


@dataclass
class Serial:
    """Milliseconds of the questions that were run alone: question_id → stage → ms."""

    times: dict[str, dict[str, float]] = field(default_factory=dict)


def serial_pass(root: str, plan: Plan, executor: Executor, *, sample: int, seed: int) -> Serial:
    """Runs `sample` questions, drawn by id, one at a time through every stage, after warm-up."""
    paths = inputs.paths(root, plan.resolved.key)
    blocks = (read(path, ["question_id"])["question_id"].to_pylist() for path in paths)
    drawn = registry.draw(blocks, sample, seed)
    steps = {step.key: step for timed in plan.timed for step in timed.steps}
    between = {c.key for step in steps.values() for c in step.batch} - set(steps)
    served = {key: executor.serve(replace(s, make=s.alone or s.make)) for key, s in steps.items()}
    serial = Serial()
    places = [(block, row) for block, row, _ in drawn]
    for block, row in places[:WARM_UP]:
        _run_alone(root, steps, between, served, (block, row))
    for block, row, question_id in drawn:
        elapsed = _run_alone(root, steps, between, served, (block, row))
        if elapsed is not None:
            serial.times[question_id] = stage_times(plan.timed, elapsed)
    return serial


def _run_alone(
    root: str,
    steps: Mapping[str, Step],
    between: set[str],
    served: Mapping[str, Served],
    place: tuple[int, int],
) -> dict[str, float] | None:
    """Milliseconds per step of one question; None when a step failed on it."""
    block, row = place
    outputs = {key: read(inputs.paths(root, key)[block]).slice(row, 1) for key in between}
    elapsed: dict[str, float] = {}
    for key, step in steps.items():
        batch = pa.table({c.name: outputs[c.key][c.column] for c in step.batch})
        start = time.perf_counter()
        table = served[key](batch)
        elapsed[key] = 1000 * (time.perf_counter() - start)
        outputs[key] = conform(table, step.schema)
        if outputs[key]["error"].null_count == 0:
            return None
    return elapsed


def stage_times(timed: Sequence[Timed], elapsed: Mapping[str, float]) -> dict[str, float]:
    """Per stage, and `retrieval` (arms side by side, then fusion) and `end_to_end`."""
    stages = {t.stage: sum(elapsed[step.key] for step in t.steps) for t in timed}
    arms = [stages[t.stage] for t in timed if t.arm is not None]
    retrieval = max(arms) + stages.get("fused", 0.0)
    later = [stages[name] for name in ("reranked", "context", "answer") if name in stages]
    return {**stages, "retrieval": retrieval, "end_to_end": retrieval + sum(later)}


def latency_tables(
    root: str, plan: Plan, done: Mapping[str, Done], serial: Serial
) -> Iterator[pa.Table]:
    """Per block of questions, a row per (question_id, stage)."""
    for block, path in enumerate(inputs.paths(root, plan.resolved.key)):
        ids = read(path, ["question_id"])["question_id"].combine_chunks()
        tables = [_batched(root, timed, done, block, ids, serial) for timed in plan.timed]
        tables.append(_alone(ids.to_pylist(), serial, ("retrieval", "end_to_end")))
        yield pa.concat_tables(tables).sort_by([("question_id", "ascending")])


def _batched(
    root: str, timed: Timed, done: Mapping[str, Done], block: int, ids: pa.Array, serial: Serial
) -> pa.Table:
    """One stage's rows: the serial time where taken, else a question's own where there is one (null
    if it failed), else an equal share of its blocks' time."""
    commits = [done[step.key].commits[block] for step in timed.steps]
    fresh = any(block in done[step.key].computed for step in timed.steps)
    share = 1000 * sum(commit.elapsed_s for commit in commits) / max(1, len(ids))
    own: list[float | None] = [share] * len(ids)
    if timed.measured is not None:
        key, column = timed.measured
        own = read(inputs.paths(root, key)[block], [column])[column].to_pylist()
    alone = [serial.times.get(name, {}).get(timed.stage) for name in ids.to_pylist()]
    times = [apart if ms is None else ms for ms, apart in zip(alone, own, strict=True)]
    batched = "batched" if fresh else "cached"
    columns = {
        "question_id": ids,
        "stage": pa.array([timed.stage] * len(ids), TEXT),
        "latency_ms": pa.array(times, pa.float64()),
        "mode": pa.array([batched if ms is None else "serial" for ms in alone], TEXT),
    }
    for key, column, counter in timed.counters:
        columns[counter] = read(inputs.paths(root, key)[block], [column])[column].combine_chunks()
    return conform(pa.table(columns), LATENCY)


def _alone(ids: Sequence[str], serial: Serial, stages: Sequence[str]) -> pa.Table:
    """The rows that only questions run alone have."""
    rows = [
        {
            "question_id": name,
            "stage": stage,
            "latency_ms": serial.times[name][stage],
            "mode": "serial",
        }
        for name in ids
        if name in serial.times
        for stage in stages
    ]
    return pa.Table.from_pylist(rows, schema=LATENCY)
