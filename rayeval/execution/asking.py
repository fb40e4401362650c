"""A golden set's questions put to a user's search function: `rayeval.evaluate(search, …)`."""

from __future__ import annotations

import inspect
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pyarrow as pa

from rayeval.errors import ConfigError, DataError, RowError, text_of
from rayeval.execution import awaiting
from rayeval.execution.job import Options
from rayeval.execution.runs import Run
from rayeval.execution.score import ScoreOptions, score_tables
from rayeval.golden.load import load_questions
from rayeval.hits import hits_of, taken
from rayeval.metrics.names import parse
from rayeval.tables import FOREIGN

BLOCK = 256
"""Questions asked before their answers are handed on."""


def evaluate_search(
    search: Callable[..., Any],
    *,
    golden: str | None,
    k: int,
    corpus: str | None,
    metrics: Sequence[str] | None,
    stage: str,
    name: str,
    options: Options,
) -> Run:
    """The committed run of a search function (see `rayeval.evaluate`)."""
    if golden is None:
        raise ConfigError(
            "a search function needs questions: evaluate(search, golden='golden.csv')"
        )
    how = ScoreOptions(
        corpus=corpus,
        metrics=metrics,
        cutoffs=(k,),
        keep_trace=True,  # nobody else has it
        runs=options.runs,
        store=options.store,
        name=name,
    )
    how.config(golden, ["trace"])  # what is wrong with it is said before anything is asked
    questions, problems = load_questions(golden)
    if wrong := [problem for problem in problems if not problem.warning]:
        raise DataError(wrong)
    kept = _looked_at(k, metrics)
    tables = asked(search, questions, stage=stage, k=k, workers=options.workers or 1, kept=kept)
    return score_tables(golden, tables, how)


def asked(
    search: Callable[..., Any],
    questions: pa.Table,
    *,
    stage: str,
    k: int,
    workers: int,
    kept: int | None = None,
) -> Iterator[pa.Table]:
    """Tables of FOREIGN: what `search` gives for `questions` (QUESTIONS), in their order.

    search: `search(question)` gives hits, best first (`rayeval.hits`); a coroutine function may be
    one; it is also given `principals` and `k` if it has parameters of these names. Whatever it
    raises is that question's error, but for KeyboardInterrupt. workers: questions asked at once,
    each in a thread. kept: how many hits count, and are taken from a generator; None: all of them.
    Raises ConfigError if it can't be called with a question.
    """
    given = _parameters(search)
    with awaiting.loop() as awaited, ThreadPoolExecutor(workers) as pool:
        ask = partial(_asked, search, given & {"principals", "k"}, stage, (k, kept), awaited)
        for start in range(0, questions.num_rows, BLOCK):
            block = questions.select(["question_id", "question", "principals"]).slice(start, BLOCK)
            rows = list(pool.map(ask, block.to_pylist()))
            yield pa.Table.from_pylist(rows, schema=FOREIGN)


def _asked(
    search: Callable[..., Any],
    wanted: frozenset[str],
    stage: str,
    depth: tuple[int, int | None],
    awaited: Callable[[Awaitable[Any]], Any],
    question: Mapping[str, Any],
) -> dict[str, Any]:
    """One question's row of FOREIGN. depth: what is asked for, and how many hits count."""
    k, kept = depth
    options = {"principals": question["principals"], "k": k}
    row = {"question_id": question["question_id"], "stage": stage}
    start = time.perf_counter()
    try:
        found = search(question["question"], **{name: options[name] for name in wanted})
        found = awaited(found) if inspect.isawaitable(found) else found
        found = taken(found, kept)
        elapsed = 1000 * (time.perf_counter() - start)
        return row | {"hits": hits_of(found)[:kept], "latency_ms": elapsed}
    except RowError as error:
        return row | {"error": text_of(error, named=False)}
    except KeyboardInterrupt:  # the user's own wish to end
        raise
    except BaseException as error:  # noqa: BLE001 - the user's search: the row's error
        return row | {"error": text_of(error)}


def _looked_at(k: int, metrics: Sequence[str] | None) -> int | None:
    """How many hits the metrics look at, so that a first failure speaks of no others."""
    if metrics is None:
        return k
    cuts = [parse(name).cutoff for name in metrics]
    sizes = [cut.size for cut in cuts if cut is not None and not cut.tokens]
    return max(k, *sizes) if len(sizes) == len(cuts) else None


def _parameters(search: Callable[..., Any]) -> frozenset[str]:
    """The names that `search` takes besides the question."""
    try:
        signature = inspect.signature(search)
    except (TypeError, ValueError):  # some callables written in C have none
        return frozenset()
    names = frozenset(list(signature.parameters)[1:])
    try:
        signature.bind("question", **dict.fromkeys(names & {"principals", "k"}))
    except TypeError as error:
        raise ConfigError(
            f"the search function can't be called as search(question): {error}. It may also take "
            "`principals` and `k` by name; what else it needs, bind with functools.partial."
        ) from error
    return names
