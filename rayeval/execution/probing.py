"""A run's judge asked again about some of its verdicts, where they should stay as they are."""

from __future__ import annotations

import hashlib
from typing import Any

import polars as pl
import pyarrow as pa
from pydantic import TypeAdapter

from rayeval import registry
from rayeval.answer_tables import ANSWER
from rayeval.calibration.items import SCALES
from rayeval.errors import ConfigError
from rayeval.execution.plan.answer import chat_log
from rayeval.execution.runs import Run
from rayeval.judge.config import Judge
from rayeval.stats.binomial import exact_limits
from rayeval.tables import TEXT

PASSAGES = pa.list_(pa.struct([("chunk_id", TEXT), ("text", TEXT)]))


def probe(run: Run, task: str, n: int, root: str, *, seed: int) -> dict[str, Any]:
    """Kind of probe → verdicts given both times, how many flipped which way, with exact limits.

    n: answers, drawn by question id. root: the store, whose log knows what was asked already.
    Raises ConfigError if the judge is no longer the one that the run had.
    """
    config = _config(run, task)
    rows = _drawn(run, n, seed)
    scale = [int(grade) for grade in SCALES[task]] if task == "relevance" else SCALES[task]
    store = (root, chat_log(config))
    found = registry.probing(config, task, scale, _batch(run, rows), _judged(run, rows), store)
    return {
        kind: {
            "n": one.n,
            "flips": one.better + one.worse,
            "better": one.better,
            "worse": one.worse,
            "lost": one.lost,
            "limits": list(exact_limits(one.better + one.worse, one.n)) if one.n else None,
        }
        for kind, one in found.items()
    }


def _config(run: Run, task: str) -> Any:
    stated = (run.manifest.get("config") or {}).get("judge")
    config: Any = TypeAdapter(Judge).validate_python(stated)
    was, now = run.manifest["judge"]["prompts"][task]["hash"], config.loaded()[task].hash
    if was != now:
        raise ConfigError(
            f"the prompt of {task} has changed since run {run.run_id}: {was[:12]} → {now[:12]}; "
            "run the judge again, and probe that run"
        )
    return config


def _drawn(run: Run, n: int, seed: int) -> pl.DataFrame:
    """The first answers to `n` questions that have one and were judged."""
    first = (pl.col("variant") == "answer") & (pl.col("repeat") == 0)
    keys = ["question_id", "variant", "repeat"]
    judged = run.judgements.filter(first).select(keys)
    rows = run.answers.filter(first).join(judged, on=keys, how="semi")
    order = [hashlib.sha256(f"{seed}\0{name}".encode()).hexdigest() for name in rows["question_id"]]
    return rows.with_columns(order=pl.Series(order, dtype=pl.String)).sort("order").head(n)


def _batch(run: Run, rows: pl.DataFrame) -> pa.Table:
    """What a judge reads (`judge.item`), a row per question."""
    known = run.questions.select("question_id", "question", "reference_answer")
    asked = rows.select("question_id").join(
        known, on="question_id", how="left", maintain_order="left"
    )
    wanted = rows["context"].explode().drop_nulls().unique().to_list()
    passages = run.rows("passages", "chunk_id", wanted).select("chunk_id", "text")
    texts = dict(passages.iter_rows())
    said = [[{"chunk_id": one, "text": texts.get(one)} for one in context or ()]
            for context in rows["context"].to_list()]  # fmt: skip
    answers = pa.array([[row] for row in rows.to_dicts()], pa.list_(ANSWER))
    columns = {name: pa.array(asked[name].to_list(), TEXT) for name in asked.columns}
    return pa.table({**columns, "answers": answers, "texts": pa.array(said, PASSAGES)})


def _judged(run: Run, rows: pl.DataFrame) -> list[dict[str, Any]]:
    keys = ["question_id", "variant", "repeat"]
    found = rows.select(keys).join(run.judgements, on=keys, how="left", maintain_order="left")
    return found.to_dicts()
