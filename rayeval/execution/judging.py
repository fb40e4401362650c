"""Runs and people: items of a run to label, and its judge held against the labels."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from rayeval import files
from rayeval.calibration import calibrated
from rayeval.calibration.items import SCALES, as_labels, items_of
from rayeval.calibration.labels import Scale, pair_labels
from rayeval.calibration.record import Judge, Record, record_of
from rayeval.calibration.sample import draw
from rayeval.calibration.sheet import sheet
from rayeval.errors import ConfigError
from rayeval.execution.runs import Run, load
from rayeval.interop.labels import canonical, read_labels
from rayeval.stats.ppi import powered


@dataclass(frozen=True)
class Asked:
    """What `judge calibrate` is asked."""

    human: str
    judge: str | None
    run: str | None
    runs: str
    scale: str | None
    positive: str | None
    task: str | None
    language: str | None
    floor: float
    seed: int


def calibration(
    asked: Asked, *, model: str | None, revision: str | None, prompt: str | None, record: str | None
) -> tuple[dict[str, Any], Record | None]:
    """The figures, and the record that was written where one was asked for.

    Raises ConfigError unless exactly one judge is named, and where a record lacks what it is
    bound to.
    """
    if (asked.judge is None) == (asked.run is None):
        raise ConfigError("name the judge's labels by --judge FILE, or by --run RUN and --task")
    if asked.run is not None and asked.task is None:
        raise ConfigError(f"--run needs --task: one of {', '.join(SCALES)}")
    run = None if asked.run is None else load(asked.run, asked.runs)
    people = read_labels(asked.human)
    scale = _scale(asked, people)
    cut = None if asked.positive is None else canonical(asked.positive)
    if cut is not None and cut not in scale.labels:
        raise ConfigError(f"--positive {cut} is not on the scale {', '.join(scale.labels)}")
    bound = None
    if record is not None:
        bound = _bound(asked, run, model, revision, prompt)
    of_judge = read_labels(str(asked.judge)) if run is None else labels_of(run, str(asked.task))
    found = calibrated(people, of_judge, scale=scale, positive=cut, seed=asked.seed)
    if run is not None:
        found["corrected"] = corrected(run, people, str(asked.task))
    if record is None or bound is None:
        return found, None
    paths = [asked.human] if asked.judge is None else [asked.human, asked.judge]
    written = record_of(found, bound, paths, asked.floor)
    files.write_json(record, written.model_dump(mode="json"))
    return found, written


def _scale(asked: Asked, people: pl.DataFrame) -> Scale:
    if asked.scale is None:
        return Scale.used(people) if asked.run is None else Scale.of(SCALES[str(asked.task)])
    labels = [canonical(part) for part in asked.scale.split(",")]
    named = [label for label in labels if label is not None]
    if len(named) < len(labels) or len(set(named)) < len(named) or len(named) < 2:
        said = "expected two labels or more, each once: 0,1,2,3"
        raise ConfigError(f"--scale {asked.scale!r}: {said}")
    return Scale.of(named)


def _bound(
    asked: Asked, run: Run | None, model: str | None, revision: str | None, prompt: str | None
) -> Judge:
    if run is not None:
        return judge_of(run, str(asked.task), asked.language)
    if model is None or prompt is None or asked.task is None:
        raise ConfigError("--record needs --model, --prompt and --task: it is bound to them")
    return Judge(
        model=model, revision=revision, prompt=prompt, task=asked.task, language=asked.language
    )


def verdicts(run: Run, task: str) -> pl.DataFrame:
    """The items of a run's judge (`calibration.items.SCHEMA`). Raises ConfigError without one."""
    found = items_of(run.judgements, run.answers, run.questions, task)
    if found.is_empty():
        judged = ", ".join((run.manifest.get("judge") or {}).get("tasks", ())) or "nothing"
        raise ConfigError(f"run {run.run_id} has no verdict of {task!r}; its judge judged {judged}")
    return found


def write_sheet(run: Run, task: str, n: int, path: str, *, seed: int) -> int:
    """A sheet of `n` items for people to label; returns how many there are."""
    drawn = draw(verdicts(run, task), task, n, seed=seed)
    wanted = drawn["chunks"].explode().drop_nulls().unique()
    passages = run.passages.filter(pl.col("chunk_id").is_in(wanted.implode()))
    texts = dict(passages.select("chunk_id", "text").iter_rows())
    files.write_bytes(path, sheet(drawn, texts, task))
    return drawn.height


def labels_of(run: Run, task: str) -> pl.DataFrame:
    """The judge's labels in a run."""
    return as_labels(verdicts(run, task))


def judge_of(run: Run, task: str, language: str | None) -> Judge:
    """Which judge a run had. Raises ConfigError without one."""
    pins = run.manifest.get("judge")
    if not pins or task not in pins["prompts"]:
        raise ConfigError(f"run {run.run_id} has no judge of {task!r}")
    prompt = pins["prompts"][task]["hash"]
    return Judge(
        model=pins["model"], revision=pins["revision"], prompt=prompt, task=task, language=language
    )


def corrected(run: Run, human: pl.DataFrame, task: str) -> dict[str, Any]:
    """The share of the best verdict: the judge's, people's, and prediction-powered (PPI++).

    people's labels weigh by the chance with which their item was drawn (`judge sample`).
    """
    scale = Scale.of(SCALES[task])
    paired = pair_labels(human, labels_of(run, task), scale)
    items = verdicts(run, task)
    best = len(scale.labels) - 1
    places = dict(zip(paired.items, zip(paired.human, paired.weights, strict=True), strict=True))
    known = [places.get(name, (-1, 1.0)) for name in items["item_id"]]
    people = np.array([np.nan if place < 0 else float(place == best) for place, _ in known])
    probability = np.array([1 / weight for _, weight in known])
    judge = (items["verdict"] == scale.labels[best]).cast(pl.Float64).to_numpy()
    clusters = np.unique(items["cluster"].to_numpy(), return_inverse=True)[1]
    found = asdict(powered(judge, people, probability, clusters))
    return {"of": scale.labels[best], **_plain(found)}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return None if isinstance(value, float) and not np.isfinite(value) else value
