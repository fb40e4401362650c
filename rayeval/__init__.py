"""rayeval: prove that a change to a retrieval pipeline helped, for which questions, and where.

run = rayeval.evaluate("rayeval.yaml")
print(run)                 # metrics by stage
run = rayeval.score("golden.jsonl", "trace.jsonl")     # another pipeline's trace
run.failures               # a Polars frame: every question's first failure
rayeval.load("runs/…")     # a run from before
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pyarrow as pa

    from rayeval.execution.runs import Run

__version__ = "0.1.0"
__all__ = ["__version__", "evaluate", "load", "score"]


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


def score(
    golden: str | os.PathLike[str],
    trace: str | os.PathLike[str] | Iterable[pa.Table] | Iterable[dict[str, Any]],
    *,
    convention: Literal["rayeval", "trec"] = "rayeval",
    format: str | None = None,  # noqa: A002 - as on the command line
    corpus: str | os.PathLike[str] | None = None,
    chunks: str | os.PathLike[str] | None = None,
    metrics: Sequence[str] | None = None,
    relevant: int | None = None,
    cutoffs: Sequence[int | str] | None = None,
    sort: Literal["score"] | None = None,
    keep_trace: bool = False,
    name: str = "score",
    runs: str | os.PathLike[str] = "runs",
    store: str | os.PathLike[str] | None = None,
) -> Run:
    """Scores what another pipeline left behind and returns the committed run.

    trace: a file; or tables of schema FOREIGN; or rows such as
    `{"question_id": "q1", "stages": {"search": {"hits": ["a passage", {"source_id": "doc.md"}]}}}`.
    format: the tool that wrote the file, None for rayeval's own. corpus: the documents, in which
    text is looked up. chunks: the chunks that hits name by id. sort: order hits by score, whatever
    order they are listed in.
    Raises InputError if the golden set or the trace are wrong, InfrastructureError if the machine
    is at fault.
    """
    from rayeval.execution.score.anything import score_anything
    from rayeval.execution.score.options import ScoreOptions

    options = ScoreOptions(
        convention=convention,
        format=format,
        corpus=None if corpus is None else os.fspath(corpus),
        chunks=() if chunks is None else (os.fspath(chunks),),
        metrics=metrics,
        relevant=relevant,
        cutoffs=cutoffs,
        any_order=sort == "score",
        keep_trace=keep_trace,
        runs=os.fspath(runs),
        store=None if store is None else os.fspath(store),
        name=name,
    )
    return score_anything(os.fspath(golden), trace, options)


def load(run: str | os.PathLike[str], runs: str | os.PathLike[str] = "runs") -> Run:
    """The run at the path `run`, or of that id below the folder `runs`.

    Raises RunError if there is none, or if it was never finished.
    """
    from rayeval.execution import runs as found

    return found.load(os.fspath(run), os.fspath(runs))
