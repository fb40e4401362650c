"""`--convention trec`: a run and its judgements, scored as trec_eval 10.0 scores them under -c."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from typing import Any

import polars as pl
import pyarrow as pa

from rayeval import files
from rayeval.errors import ConfigError, DataError, Problem
from rayeval.execution import artifacts, manifest
from rayeval.execution.latency import LATENCY
from rayeval.execution.progress import Silent, Watcher
from rayeval.execution.runs import MANIFEST, Run, sealed
from rayeval.execution.score import known
from rayeval.execution.score import trec_tables as tables
from rayeval.execution.score.options import ScoreOptions
from rayeval.interop.trec import read_judgements, read_run, repeated
from rayeval.metrics import SLICES
from rayeval.metrics.names import Measure
from rayeval.metrics.trec import Grouped, Judged, Values, grouped, judged, measures
from rayeval.report.write import write_report
from rayeval.words import plural, verb

_AROUND: dict[str, Callable[[], dict[str, Any]]] = {
    "code": lambda: manifest.code("."),
    "libraries": manifest.libraries,
    "hardware": manifest.hardware,
}
"""What a manifest says of where a run was made."""
Made = dict[str, Callable[[], Iterable[pa.Table]]]
"""What makes each table of a run."""


def score_trec(
    golden: str, trace: Sequence[str], options: ScoreOptions, watcher: Watcher | None = None
) -> Run:
    """Scores one TREC run on the TREC judgements `golden`; either may be Parquet.

    Metrics are named as trec_eval or other tools write them; without names it is all of them, at
    `options.cutoffs` or trec_eval's own. `options.relevant` is trec_eval's -l.
    Raises DataError with every line that is wrong, ConfigError for a measure that is not known or
    an option that has no meaning here.
    """
    path, relevant, started = _checked(trace, options), options.relevant or 1, manifest.now()
    chosen, folder = measures(options.metrics, options.cutoffs), options.where.runs
    with ThreadPoolExecutor(2) as pool:
        facts = {
            name: pool.submit(_print, each) for name, each in (("golden", golden), ("trace", path))
        }
        facts |= {name: pool.submit(found) for name, found in _AROUND.items()}
        judgements, run = read_judgements(golden), _read(path)
        documents = None if options.corpus is None else known.documents(options.corpus)
        left_out = pool.submit(_warnings, judgements, run, (golden, path), documents)
        result = judged(run, judgements)
        warnings = [str(each) for each in left_out.result()]
    for line in warnings:
        (watcher or Silent()).say(f"warning  {line}")
    there = 0 if documents is None else documents.count
    names = [measure.name for measure in chosen]
    value = {
        "name": options.name,
        **{name: fact.result() for name, fact in facts.items()},
        "corpus": {"path": options.corpus, "documents": there, "chunks": 0},
        "config": {
            "convention": "trec",
            "metrics": {"names": names, "relevant": relevant, "full": 1},
        },
        "warnings": warnings,
        "started": started,
    }
    content = _tables(result, chosen, relevant, run if options.keep_trace else None)
    return _commit(folder, value, content)


def _checked(trace: Sequence[str], options: ScoreOptions) -> str:
    """The one run that there is to score."""
    if len(trace) != 1:
        raise ConfigError(
            f"{plural(len(trace), 'trace')}; the TREC convention scores one run at a time"
        )
    if options.relevant is not None and options.relevant < 1:
        raise ConfigError(f"relevant is {options.relevant}; expected 1 or more, as trec_eval's -l")
    if options.format not in (None, "trec") or options.chunks:
        raise ConfigError("the TREC convention reads TREC runs: leave out --chunks and --format")
    if options.judge is not None or options.refusals != "whole":
        raise ConfigError("a TREC run has no answers to judge: leave out --judge and --refusals")
    if options.roles:
        raise ConfigError("a TREC run has one stage, whose role says nothing: leave out --role")
    if options.ray or options.ray_address:
        raise ConfigError("the TREC convention is scored in this process: leave out --ray")
    if not re.fullmatch(r"[\w.-]+", options.name):
        raise ConfigError(f"the name {options.name!r} can't be part of a run's id; use letters")
    return trace[0]


def _read(trace: str) -> Grouped:
    """The run by query; DataError if a query has a document twice."""
    hits = read_run(trace)
    run = grouped(hits)
    twice = run.repeated()
    if not twice.is_empty():
        raise repeated(trace, hits, twice, "is listed more than once for this query")
    return run


def _print(path: str) -> dict[str, Any]:
    """What pins a file; nothing of one that reading will say is not there."""
    if not files.exists(path) or files.is_folder(path):
        return {}
    fs, inner = files.open_fs(path)
    digest, size = hashlib.sha256(), 0
    with fs.open_input_stream(inner, compression=None) as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
            size += len(block)
    return {"path": path, "sha256": digest.hexdigest(), "size_bytes": size}


def _warnings(
    judgements: pl.DataFrame, run: Grouped, paths: tuple[str, str], documents: known.Known | None
) -> list[Problem]:
    """What is left out, or can't ever be found."""
    golden, trace = paths
    found = (
        known.misnamed(judgements, run.hits, golden)
        if documents is None
        else known.unknown(judgements, documents, golden)
    )
    queries = judgements["query"].unique()
    strange = run.queries.filter(~run.queries.is_in(queries.implode())).sort()
    if len(strange):
        _refuse_strangers(trace, strange, queries, of=len(run.queries))
        message = f"{len(strange)} of {plural(len(run.queries), 'query', 'queries')} "
        message += verb(len(strange), "has no judgement and is", "have no judgement and are")
        message += f" left out, as trec_eval leaves them out: {', '.join(strange.head(5))}"
        message += ", …" if len(strange) > 5 else ""
        found.append(Problem(trace, None, None, "unjudged_query", message, warning=True))
    return found


def _refuse_strangers(trace: str, strange: pl.Series, queries: pl.Series, *, of: int) -> None:
    """Raises DataError where all queries of the run are strange to the judgements."""
    if len(strange) == of:
        has, there = (", ".join(names.sort().head(5)) for names in (strange, queries))
        message = f"no query of the run is judged: the run has {has}; the judgements have {there}. "
        message += "Name the judgements of this run's queries"
        raise DataError([Problem(trace, None, None, "no_question_matches", message)])


def _tables(result: Judged, chosen: Sequence[Measure], relevant: int, run: Grouped | None) -> Made:
    """What makes the files of the run; the hits only if `run` is given."""
    values = Values(result, relevant=relevant)
    columns = {measure.name: values.value(measure) for measure in chosen}
    return {
        "questions": lambda: [tables.questions(result, relevant)],
        "trace": lambda: [artifacts.TRACE.empty_table()] if run is None else tables.trace(run),
        "passages": lambda: [tables.passages(result, run)],
        "per_query": lambda: [tables.per_query(result, columns)],
        "failures": lambda: [tables.failures(result, relevant)],
        "aggregate": lambda: [tables.aggregate(result, chosen, columns)],
        "slices": lambda: [SLICES.empty_table()],
        "latency": lambda: [LATENCY.empty_table()],
    }


def _commit(runs: str, value: dict[str, Any], content: Made) -> Run:
    """Writes tables side by side, then the report; then the manifest that makes them a run."""
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    run_id = f"{stamp}-{value['name']}-{secrets.token_hex(2)}"
    folder = f"{runs.rstrip('/')}/{run_id}"
    value = {
        **value,
        "version": 1,
        "run_id": run_id,
        "stages": [tables.STAGE],
        "models": {},
    }
    files.make_folder(folder)
    names = [f"{name}.parquet" for name in content]
    with ThreadPoolExecutor() as pool:
        done = pool.map(partial(_write, folder), names, content.values())
        written = dict(zip(names, done, strict=True))
    run = Run.uncommitted(folder, {**value, "files": dict(written)})
    for name, data in write_report(run).items():
        written[name] = files.put(folder, name, data)
    value |= {"ended": manifest.now(), "files": written}
    files.write_json(f"{folder}/{MANIFEST}", sealed(value))
    return Run(folder)


def _write(folder: str, name: str, make: Callable[[], Iterable[pa.Table]]) -> dict[str, Any]:
    return artifacts.write_one(folder, name, make())
