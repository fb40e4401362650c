"""rayeval: prove that a change to a retrieval pipeline helped, for which questions, and where.

run = rayeval.evaluate("rayeval.yaml")
print(run)                 # metrics by stage
run.failures               # a Polars frame: every question's first failure
rayeval.load("runs/…")     # a run from before
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rayeval.execution.decide.comparison import Comparison
    from rayeval.execution.runs import Run

__version__ = "0.1.0"
__all__ = ["__version__", "compare", "evaluate", "load"]


def evaluate(
    config: str | os.PathLike[str] | dict[str, Any],
    *,
    sets: Sequence[str] = (),
    runs: str | os.PathLike[str] = "runs",
    store: str | os.PathLike[str] | None = None,
    ray_address: str | None = None,
    workers: int | None = None,
    limit: int | None = None,
) -> Run:
    """Runs a configuration and returns the committed run.

    config: a YAML file, or its content as a dict (paths are then relative to the working folder).
    sets: overrides like `chunk.size=300`. ray_address: a Ray cluster, `auto` for the one here;
    None runs on local processes. limit: only the first questions by id.
    Raises InputError if the configuration or the data are wrong, InfrastructureError if the machine
    is at fault.
    """
    from rayeval.execution.evaluate import run_config
    from rayeval.execution.job import Options
    from rayeval.execution.load import load_config, load_values
    from rayeval.execution.progress import Silent

    if isinstance(config, dict):
        loaded = load_values(config, sets)
    else:
        loaded = load_config(os.fspath(config), sets)
    options = Options(
        runs=os.fspath(runs),
        store=None if store is None else os.fspath(store),
        ray_address=ray_address,
        workers=workers,
        limit=limit,
    )
    return run_config(loaded, options, Silent())


def load(run: str | os.PathLike[str], runs: str | os.PathLike[str] = "runs") -> Run:
    """The run at the path `run`, or of that id below the folder `runs`.

    Raises RunError if there is none, or if it was never finished.
    """
    from rayeval.execution import runs as found

    return found.load(os.fspath(run), os.fspath(runs))


def compare(
    new: Run | str | os.PathLike[str],
    base: Run | str | os.PathLike[str],
    *,
    shared: bool = False,
    allow: Sequence[str] = (),
    metrics: Sequence[str] | None = None,
    runs: str | os.PathLike[str] = "runs",
) -> Comparison:
    """What `new` changed against `base`: two runs, or what `load` takes, or a baseline's name.

    shared: compare on the questions that both have. allow: what may differ all the same (golden,
    analyzer, hardware). metrics: those with intervals by slice.
    Raises PairingError for runs that can't be compared.
    """
    from rayeval.execution.decide.baselines import baseline
    from rayeval.execution.decide.comparison import Options, compare_runs
    from rayeval.execution.runs import Run

    before, after = (
        one if isinstance(one, Run) else baseline(os.fspath(one), os.fspath(runs))
        for one in (base, new)
    )
    return compare_runs(before, after, Options(shared, tuple(allow), metrics))
