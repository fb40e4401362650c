"""A sum over many items as a Ray Data reduction: what meets on the driver is one array per task."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import ray.data

from rayeval.columns import Floats
from rayeval.execution.executor import added
from rayeval.execution.failures import checked, guarded
from rayeval.execution.placement import Placement


def total(function: Callable[[Any], Floats], items: Sequence[Any], placement: Placement) -> Floats:
    """Σ `function(item)`, by as many tasks as are placed; every task adds up its own share."""
    rows = [{"item": number} for number in range(len(items))]
    tasks = min(placement.workers, len(items))
    data = ray.data.from_items(rows, override_num_blocks=tasks).map_batches(
        partial(_added, function, items),
        batch_size=None,
        batch_format="pyarrow",
        num_cpus=placement.cpus,
    )
    batches = data.iter_batches(batch_size=1, batch_format="pyarrow", prefetch_batches=0)
    return added(_summed(batch.to_pylist()[0]) for batch in batches)


def _added(function: Callable[[Any], Floats], items: Sequence[Any], batch: pa.Table) -> pa.Table:
    """A task: Σ of the items that `batch` numbers, as one row."""
    mine = [items[number] for number in batch["item"].to_pylist()]
    result = guarded(lambda own: added(map(function, own)), mine)
    failed, data = isinstance(result, tuple), io.BytesIO()
    if not failed:
        np.save(data, result, allow_pickle=False)
    return pa.table(
        {
            "sum": pa.array([data.getvalue()], pa.large_binary()),
            "failure": pa.array([result[0] if failed else None], pa.string()),
            "message": pa.array([result[1] if failed else None], pa.string()),
        }
    )


def _summed(row: dict[str, Any]) -> Floats:
    """What a task added up, unless it failed."""
    checked((row["failure"], row["message"]) if row["failure"] else None)
    result: Floats = np.load(io.BytesIO(row["sum"]), allow_pickle=False)
    return result
