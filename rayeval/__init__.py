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
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from rayeval.errors import ConfigError

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from rayeval.execution.decide.comparison import Comparison
    from rayeval.execution.runs import Run
    from rayeval.recorder import Trace

    Golden: TypeAlias = (
        str | os.PathLike[str] | Iterable[Mapping[str, Any]] | pl.DataFrame | pa.Table
    )
    """A file, or rows as its JSON Lines would have them."""

    class ArrowTable(Protocol):
        """What offers its columns in Arrow's interchange: Arrow, Polars, pandas, DuckDB, …"""

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            """A capsule with an ArrowArrayStream."""


__version__ = "0.1.0"
__all__ = ["__version__", "compare", "evaluate", "load", "score", "trace"]


def evaluate(
    config: str | os.PathLike[str] | dict[str, Any] | Callable[..., Any],
    *,
    golden: Golden | None = None,
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
    one, also where an event loop runs already; it is given `principals` and `k` too if it takes
    them; what it raises is that question's error. golden: the questions, a file or rows such as
    `{"question": "…", "evidence": [{"quote": "…"}]}`. k: where metrics cut, and how many hits
    count. corpus: the documents, in which texts are looked up. metrics: default, all at k. stage,
    name: what the results are called. workers: how many questions are asked at once, in threads;
    default 1, which is also how latency is fair.
    Raises InputError if the configuration or the data are wrong, InfrastructureError if the machine
    is at fault.
    """
    from rayeval.execution import arguments
    from rayeval.execution.job import Options

    options = Options(
        runs=arguments.path(runs, "runs"),
        store=arguments.maybe_path(store, "store"),
        ray_address=None if ray_address is None else arguments.text(ray_address, "ray_address"),
        workers=arguments.maybe_count(workers, "workers"),
        limit=arguments.maybe_count(limit, "limit"),
    )
    overrides = arguments.texts(sets, "sets")
    if callable(config):
        from rayeval.execution.asking import evaluate_search

        if overrides or ray_address or limit:
            raise ConfigError("sets, ray_address and limit are for configurations, not functions")
        return evaluate_search(
            config,
            golden=None if golden is None else arguments.golden(golden, options.root),
            k=arguments.count(k, "k"),
            corpus=arguments.maybe_path(corpus, "corpus"),
            metrics=arguments.maybe_texts(metrics, "metrics"),
            stage=arguments.text(stage, "stage"),
            name=arguments.text(name, "name"),
            options=options,
        )
    if golden is not None or corpus is not None or metrics is not None:
        raise ConfigError(
            "golden, corpus and metrics are for a search function: a configuration has its own"
        )
    from rayeval.execution.evaluate import run_config
    from rayeval.execution.load import load_config, load_values
    from rayeval.execution.progress import Silent

    if isinstance(config, dict):
        loaded = load_values(config, overrides)
    else:
        loaded = load_config(arguments.path(config, "config"), overrides)
    return run_config(loaded, options, Silent())


def score(
    golden: Golden,
    trace: str | os.PathLike[str] | ArrowTable | Iterable[ArrowTable] | Iterable[dict[str, Any]],
    *,
    convention: Literal["rayeval", "trec"] = "rayeval",
    format: str | None = None,  # noqa: A002 - as on the command line
    corpus: str | os.PathLike[str] | None = None,
    chunks: str | os.PathLike[str] | ArrowTable | Iterable[Any] | None = None,
    metrics: Sequence[str] | None = None,
    relevant: int | None = None,
    cutoffs: Sequence[int | str] | None = None,
    sort: Literal["score"] | None = None,
    roles: Mapping[str, Literal["arm", "fused", "reranked", "context"]] | None = None,
    refusals: Literal["whole", "explained"] = "whole",
    keep_trace: bool = False,
    name: str = "score",
    runs: str | os.PathLike[str] = "runs",
    store: str | os.PathLike[str] | None = None,
    ray_address: str | None = None,
    workers: int | None = None,
) -> Run:
    """Scores what another pipeline left behind and returns the committed run.

    golden: a file, or rows as its JSON Lines would have them. trace: a file; or one or several
    tables (Arrow, Polars, pandas) with the columns that a Parquet file may have; or rows such as
    `{"question_id": "q1", "stages": {"search": {"hits": ["a passage", {"source_id": "doc.md"}]}}}`.
    format: the tool that wrote the file, None for rayeval's own. corpus: the documents, in which
    text is looked up. chunks: the chunks that hits name by id: files, tables or rows. sort: order
    hits by score, whatever order they are listed in. roles: stage → what it does, where its name
    (bm25, dense, fused, reranked, context) doesn't say so, e.g. `{"elastic": "arm"}`. refusals:
    which answers are refusals where the trace doesn't say: those that say nothing else, or also
    those that only go on to say what is missing (`explained`).
    ray_address, workers: who computes, as `rayeval run` takes them.
    Raises InputError if the golden set or the trace are wrong, InfrastructureError if the machine
    is at fault.
    """
    from rayeval.execution import arguments
    from rayeval.execution.score.anything import score_anything
    from rayeval.execution.score.options import ScoreOptions

    options = ScoreOptions(
        convention=arguments.choice(convention, "convention", ("rayeval", "trec")),
        format=None if format is None else arguments.text(format, "format"),
        corpus=arguments.maybe_path(corpus, "corpus"),
        metrics=arguments.maybe_texts(metrics, "metrics"),
        relevant=relevant if relevant is None else arguments.whole(relevant, "relevant"),
        cutoffs=arguments.cutoffs(cutoffs, "cutoffs"),
        any_order=arguments.choice(sort, "sort", (None, "score")) == "score",
        roles={} if roles is None else arguments.mapping(roles, "roles"),
        refusals=arguments.choice(refusals, "refusals", ("whole", "explained")),
        keep_trace=arguments.flag(keep_trace, "keep_trace"),
        runs=arguments.path(runs, "runs"),
        store=arguments.maybe_path(store, "store"),
        name=arguments.text(name, "name"),
        ray_address=ray_address,
        workers=workers,
    )
    return score_anything(arguments.golden(golden, options.where.root), trace, chunks, options)


def load(run: str | os.PathLike[str], runs: str | os.PathLike[str] = "runs") -> Run:
    """The run at the path `run`, or of that id below the folder `runs`.

    Raises RunError if there is none, or if it was never finished.
    """
    from rayeval.execution import arguments
    from rayeval.execution import runs as found

    return found.load(arguments.path(run, "run"), arguments.path(runs, "runs"))


def trace(question_id: str, *, path: str | os.PathLike[str] | None = None) -> Trace:
    """Records what a live pipeline does for one question, as a line of a trace.

        with rayeval.trace("q-17") as t:
            t.stage("bm25", hits)
            t.context(passages)
            t.answer("…")

    path: the file to append to, a .jsonl; default: what RAYEVAL_TRACE names, else `trace.jsonl`.
    The line is written when the block ends; an exception in it is recorded as the question's
    `error`, and goes on. Whatever could not be scored later is an InputError at once, what can't
    be written an InfrastructureError (ConfigError for a path of no file) when the block ends.
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

    shared: compare on the questions that both, and the traces of both, have. allow: what may
    differ all the same (golden, metrics, tokenizer, analyzer, hardware, judge). metrics: those with
    intervals by slice.
    Raises PairingError for runs that can't be compared.
    """
    from rayeval.comparison.differences import KINDS
    from rayeval.execution import arguments
    from rayeval.execution.decide.baselines import baseline
    from rayeval.execution.decide.comparison import Options, compare_runs
    from rayeval.execution.runs import Run

    folder = arguments.path(runs, "runs")
    before, after = (
        one if isinstance(one, Run) else baseline(arguments.path(one, name), folder)
        for name, one in (("base", base), ("new", new))
    )
    options = Options(
        arguments.flag(shared, "shared"),
        tuple(arguments.choice(kind, "allow", KINDS) for kind in arguments.texts(allow, "allow")),
        arguments.maybe_texts(metrics, "metrics"),
    )
    return compare_runs(before, after, options)
