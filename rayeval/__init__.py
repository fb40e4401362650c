"""rayeval: prove that a change to a retrieval pipeline helped, for which questions, and where.

run = rayeval.evaluate("rayeval.yaml")
run = rayeval.evaluate(search, golden="golden.csv", k=3)   # search(question) -> list of passages
print(run)                 # metrics by stage
run = rayeval.score("golden.jsonl", "trace.jsonl")     # another pipeline's trace
run.failures               # a Polars frame: every question's first failure
rayeval.load("runs/…")     # a run from before
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from rayeval.errors import ConfigError

if TYPE_CHECKING:
    import pyarrow as pa

    from rayeval.execution.decide.comparison import Comparison
    from rayeval.execution.runs import Run
    from rayeval.recorder import Trace

__version__ = "0.1.0"
__all__ = ["__version__", "compare", "evaluate", "load", "score", "trace"]


def evaluate(
    config: str | os.PathLike[str] | dict[str, Any] | Callable[..., Any],
    *,
    golden: str | os.PathLike[str] | None = None,
    k: int = 5,
    corpus: str | os.PathLike[str] | None = None,
    metrics: Sequence[str] | None = None,
    stage: str = "search",
    name: str = "search",
    sets: Sequence[str] = (),
    runs: str | os.PathLike[str] = "runs",
    store: str | os.PathLike[str] | None = None,
    ray_address: str | None = None,
    workers: int | None = None,
    limit: int | None = None,
) -> Run:
    """Runs a configuration, or asks a search function, and returns the committed run.

    config: a YAML file, or its content as a dict (paths are then relative to the working folder).
    sets: overrides like `chunk.size=300`. ray_address: a Ray cluster, `auto` for the one here;
    None runs on local processes. limit: only the first questions by id.

    Or `search(question)`, which gives passages, best first: texts, or mappings with some of
    chunk_id, source_id, revision_id, start_char, end_char, text, score. A coroutine function may be
    one; it is given `principals` and `k` too if it takes them; what it raises is that question's
    error. golden: the questions. k: where metrics cut, and how many hits count. corpus: the
    documents, in which texts are looked up. metrics: default, all at k. stage, name: what the
    results are called. workers: how many questions are asked at once, in threads; default 1, which
    is also how latency is fair.
    Raises InputError if the configuration or the data are wrong, InfrastructureError if the machine
    is at fault.
    """
    if callable(config):
        from rayeval.execution.asking import evaluate_search

        if sets or ray_address or limit:
            raise ConfigError("sets, ray_address and limit are for configurations, not functions")
        return evaluate_search(
            config,
            golden=None if golden is None else os.fspath(golden),
            k=k,
            corpus=None if corpus is None else os.fspath(corpus),
            metrics=metrics,
            stage=stage,
            name=name,
            runs=os.fspath(runs),
            store=None if store is None else os.fspath(store),
            workers=1 if workers is None else workers,
        )
    if golden is not None or corpus is not None or metrics is not None:
        raise ConfigError(
            "golden, corpus and metrics are for a search function: a configuration has its own"
        )
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
    ray_address: str | None = None,
    workers: int | None = None,
) -> Run:
    """Scores what another pipeline left behind and returns the committed run.

    trace: a file; or tables of schema FOREIGN; or rows such as
    `{"question_id": "q1", "stages": {"search": {"hits": ["a passage", {"source_id": "doc.md"}]}}}`.
    format: the tool that wrote the file, None for rayeval's own. corpus: the documents, in which
    text is looked up. chunks: the chunks that hits name by id. sort: order hits by score, whatever
    order they are listed in. ray_address, workers: who computes, as `rayeval run` takes them.
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
        ray_address=ray_address,
        workers=workers,
    )
    return score_anything(os.fspath(golden), trace, options)


def load(run: str | os.PathLike[str], runs: str | os.PathLike[str] = "runs") -> Run:
    """The run at the path `run`, or of that id below the folder `runs`.

    Raises RunError if there is none, or if it was never finished.
    """
    from rayeval.execution import runs as found

    return found.load(os.fspath(run), os.fspath(runs))


def trace(question_id: str, *, path: str | os.PathLike[str] | None = None) -> Trace:
    """Records what a live pipeline does for one question, as a line of a trace.

        with rayeval.trace("q-17") as t:
            t.stage("bm25", hits)
            t.context(passages)
            t.answer("…")

    path: the file to append to; default: what RAYEVAL_TRACE names, else `trace.jsonl`. The line is
    written when the block ends; an exception in it is recorded as the question's `error`.
    """
    from rayeval.recorder import Trace

    return Trace(question_id, path)


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
