"""Writing the files of a scored run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import polars as pl
import pyarrow as pa

from rayeval import files
from rayeval.columns import combined, flatten
from rayeval.corpus.catalogue import snapshot_hash
from rayeval.execution import artifacts, inputs
from rayeval.execution.artifacts import PASSAGE, TRACE
from rayeval.execution.commit import described, seal
from rayeval.execution.driver import Done
from rayeval.execution.executor import Executor
from rayeval.execution.job import Job
from rayeval.execution.latency import LATENCY
from rayeval.execution.models import judge_pins, judge_records, judge_text
from rayeval.execution.runs import PLAN
from rayeval.execution.score.config import ScoreConfig
from rayeval.execution.score.plan import ScorePlan
from rayeval.execution.score.verdicts import ToldJudge
from rayeval.execution.store import read
from rayeval.registry.scoring import Scoring
from rayeval.tables import TEXT, conform


def commit_score(
    job: Job,
    plan: ScorePlan,
    done: Mapping[str, Done],
    warnings: Sequence[str],
    executor: Executor,
    judge: ToldJudge | None = None,
) -> None:
    """Tables, report; then the manifest. judge: whose verdicts came with the trace."""
    files.clear_folder(job.folder, keep=PLAN)  # what a killed driver left half-written
    config = job.of_score
    keys = {name: step.key for name, step in plan.tables}
    task = (job.folder, job.options.root, plan.resolved.key, plan.scored.key, keys)
    [written] = executor.call(write_tables, [task])
    passages = written["passages.parquet"]["rows"]
    value = {**_made_of(job, config, plan, passages), **_judged_by(config, judge)}
    seal(job, {**value, **described(job, plan, done, warnings)}, written)


def write_tables(task: tuple[str, str, str, str, dict[str, str]]) -> dict[str, dict[str, Any]]:
    """Writes every table of the run; name → sha256, rows, size."""
    folder, root, resolved, scored, keys = task
    tables = {
        "questions.parquet": artifacts.questions(root, resolved),
        "trace.parquet": _trace(root, scored),
        "passages.parquet": _passages(root, scored),
        "latency.parquet": _latency(root, scored),
        **{name: artifacts.parts(root, key) for name, key in keys.items()},
    }
    return {name: artifacts.write_one(folder, name, found) for name, found in tables.items()}


def _made_of(job: Job, config: ScoreConfig, plan: ScorePlan, passages: int) -> dict[str, Any]:
    catalogue = read(inputs.paths(job.options.root, plan.catalogue.key)[0])
    there = config.corpus is not None
    return {
        "golden": {"path": config.golden.path, "sha256": job.pinned["golden"]},
        "trace": {"paths": config.trace.paths, "sha256": job.pinned["trace"]},
        "chunks": {"paths": config.chunks, "sha256": job.pinned["chunks"]}
        if config.chunks
        else None,
        "corpus": {
            "path": config.corpus.path if config.corpus else None,
            "snapshot": snapshot_hash(catalogue) if there else None,
            "documents": catalogue.num_rows,
            "chunks": passages,
        },
        "stages": list(_scoring(plan).stages),
        "answers": list(_scoring(plan).pipeline.answers),
        "tokenizer": config.tokenizer.identity(),
    }


def _judged_by(config: ScoreConfig, judge: ToldJudge | None) -> dict[str, Any]:
    """The judge that was asked, else the one whose verdicts came with the trace."""
    if config.judge is None and judge is not None:
        return {"models": {"judge": judge.text}, "judge": judge.pins, "calibration": []}
    return {
        "models": {} if config.judge is None else {"judge": judge_text(config.judge)},
        "judge": judge_pins(config.judge),
        "calibration": judge_records(config.judge),
    }


def _scoring(plan: ScorePlan) -> Scoring:
    """How the trace was scored."""
    return cast("Scoring", cast("Any", plan.scored.make).args[0])


def _rows(root: str, key: str, column: str) -> Iterator[pa.Table]:
    """The structs in a list column as rows, beside `question_id`."""
    for path in inputs.paths(root, key):
        table = read(path, ["question_id", column])
        rows, items = flatten(table[column])
        ids = combined(table["question_id"]).take(pa.array(rows))
        fields = dict(zip(items.type.names, items.flatten(), strict=True))
        yield pa.table({"question_id": ids, **fields})


def _trace(root: str, key: str) -> Iterator[pa.Table]:
    return (conform(table, TRACE) for table in _rows(root, key, "trace"))


def _latency(root: str, key: str) -> Iterator[pa.Table]:
    for table in _rows(root, key, "trace"):
        known = table.filter(table["latency_ms"].is_valid())
        mode = pa.array(["foreign"] * known.num_rows, TEXT)
        yield conform(known.append_column("mode", mode), LATENCY)


def _passages(root: str, key: str) -> Iterator[pa.Table]:
    """Every passage of the kept hits once, by chunk_id."""
    found = pl.DataFrame(pl.from_arrow(PASSAGE.empty_table()))
    waiting: list[pl.DataFrame] = []
    for table in _rows(root, key, "passages"):
        waiting.append(pl.DataFrame(pl.from_arrow(conform(table, PASSAGE))))
        if sum(frame.height for frame in waiting) > found.height:  # each row is looked at few times
            found, waiting = _distinct([found, *waiting]), []
    found = _distinct([found, *waiting])
    yield conform(found.sort("chunk_id").to_arrow(), PASSAGE)


def _distinct(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(frames).unique("chunk_id", keep="first", maintain_order=True)
