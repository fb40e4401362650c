"""Runs and people: a judge, of a run or of a file, held against people's labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from rayeval import files
from rayeval.calibration import calibrated
from rayeval.calibration.corrected import corrected
from rayeval.calibration.items import POSITIVE, SCALES, scale_of
from rayeval.calibration.labels import Scale, pair_labels
from rayeval.calibration.record import Judge, Record, records_of
from rayeval.calibration.requests import Mark, judged, weighed
from rayeval.errors import ConfigError, DataError, Problem
from rayeval.execution.authors import paired_up, side_by_side
from rayeval.execution.job import Options
from rayeval.execution.probing import probe
from rayeval.execution.runs import Run, load
from rayeval.execution.sampling import chances, verdicts
from rayeval.interop.labels import INFINITE, canonical, read_labels
from rayeval.stats.alternative import EPSILON
from rayeval.words import plural

TASKS = (*SCALES, "claims")
"""What a record may be about."""


@dataclass(frozen=True)
class Asked:
    """What `judge calibrate` is asked."""

    human: Sequence[str]
    """A file for each run, in order; of a judge's file, one."""
    judge: str | None
    run: Sequence[str]
    runs: str
    scale: str | None
    positive: str | None
    task: str | None
    language: str | None
    floor: float
    seed: int
    probes: int | None = None
    """Answers that the run's judge is asked about again; None: it is not."""
    store: str | None = None
    author: str | None = None
    """Of the items: who is the judge itself."""
    nominal: bool = False
    """The labels have no order, though they are numbers or a scale names them."""
    epsilon: float = EPSILON
    """Of the alternative annotator test."""


def calibration(
    asked: Asked, *, model: str | None, revision: str | None, prompt: str | None, record: str | None
) -> tuple[dict[str, Any], Sequence[Record]]:
    """The figures, and the records that were written where they were asked for.

    Raises ConfigError unless exactly one judge is named, and where a record lacks what it is
    bound to.
    """
    _check(asked, record)
    runs = [load(name, asked.runs) for name in asked.run]
    run = runs[0] if runs else None
    people = [_labels(path) for path in asked.human]
    bound = None if record is None else _bound(asked, run, model, revision, prompt)
    if len(runs) > 1:
        found = _of_runs(asked, people, runs)
    else:
        found = _of_files(asked, people[0]) if run is None else _of_run(asked, people[0], run)
    if record is None or bound is None:
        return found, ()
    _refuse_unknown_labels(asked, found)
    written = records_of(found, bound, _hashes(asked, run), asked.floor)
    files.write_json(record, written.model_dump(mode="json"))
    return found, written.records


def _labels(path: str) -> pl.DataFrame:
    """People's labels. Raises DataError for a sheet that nobody filled in."""
    found = read_labels(path)
    if found["label"].null_count() == found.height:
        said = f"none of its {plural(found.height, 'row')} has a label yet"
        raise DataError([Problem(path, None, None, "unlabelled", said)])
    return found


def _check(asked: Asked, record: str | None) -> None:
    if (asked.judge is None) == (not asked.run):
        raise ConfigError("name the judge's labels by --judge FILE, or by --run RUN and --task")
    if asked.run and asked.task is None:
        raise ConfigError(f"--run needs --task: one of {', '.join(SCALES)}")
    if asked.run and (asked.scale is not None or asked.nominal):
        raise ConfigError("the scale is that of the run's task; leave out --scale and --nominal")
    if asked.task is not None and asked.task not in TASKS:
        raise ConfigError(f"task {asked.task!r}: expected one of {', '.join(TASKS)}")
    if not asked.run and asked.probes is not None:
        raise ConfigError("--probes asks the judge of a run: name it by --run and --task")
    if len(asked.run) > 1 and (record is not None or asked.probes is not None):
        raise ConfigError("--record and --probes are of one run; several are for --itself")
    paired_up(asked.human, asked.run)


def _refuse_unknown_labels(asked: Asked, found: dict[str, Any]) -> None:
    """A record says how far a judge is trusted: what counts then is decided by nobody's default."""
    if not asked.run and asked.scale is None and found["n_off_scale"]:
        strange = ", ".join(sorted({one["label"] for one in found["out_of_scale"]}))
        items = plural(found["n_off_scale"], "item")
        raise ConfigError(
            f"--record needs --scale: on {items} the judge gave a label that no person gave "
            f"({strange}), which are left out unless the scale has it"
        )


def _of_files(asked: Asked, people: pl.DataFrame) -> dict[str, Any]:
    if any(Mark.read(mark) for mark in people["sample"].drop_nulls()):
        raise ConfigError(
            f"{asked.human[0]} was drawn by `rayeval judge sample`, and only the run knows the "
            "chances: --run RUN --task TASK; or give `inclusion_probability` in place of `sample`"
        )
    judge = read_labels(str(asked.judge))
    scale = Scale.used(people, judge) if asked.scale is None else _stated(asked.scale)
    scale = replace(scale, ordinal=scale.ordinal and not asked.nominal)
    positive = _positive(asked, scale)
    return calibrated(
        people, judge, scale=scale, positive=positive, itself=asked.author, seed=asked.seed,
        epsilon=asked.epsilon,
    )  # fmt: skip


def _of_run(asked: Asked, people: pl.DataFrame, run: Run) -> dict[str, Any]:
    task = str(asked.task)
    if asked.author is not None:
        raise ConfigError("--itself needs answers of others too: two runs or more of one judge")
    scale, items = scale_of(task), verdicts(run, task)
    people, judge = _sides(people, run, asked.human[0], task)
    positive = _positive(asked, scale) or POSITIVE.get(task, scale.labels[-1])
    found = calibrated(
        people, judge, scale=scale, positive=positive, seed=asked.seed, epsilon=asked.epsilon
    )
    paired = pair_labels(people, judge, scale)
    found["corrected"] = corrected(items, run.answers, run.per_query, paired, task)
    if asked.probes is not None:
        root = Options(asked.runs, asked.store).root
        found["probes"] = probe(run, task, asked.probes, root, seed=asked.seed)
    return found


def _of_runs(asked: Asked, people: Sequence[pl.DataFrame], runs: Sequence[Run]) -> dict[str, Any]:
    """One judge over the answers of several runs."""
    task = str(asked.task)
    first, *others = (judge_of(run, task, None) for run in runs)
    if any(other != first for other in others):
        raise ConfigError(f"the runs have different judges of {task!r}; compare runs of one judge")
    scale = scale_of(task)
    positive = _positive(asked, scale) or POSITIVE.get(task, scale.labels[-1])
    sides = [_sides(*one, task) for one in zip(people, runs, asked.human, strict=True)]
    human, judge = side_by_side(sides, runs)
    return calibrated(
        human, judge, scale=scale, positive=positive, itself=asked.author, seed=asked.seed,
        epsilon=asked.epsilon,
    )  # fmt: skip


def _sides(
    people: pl.DataFrame, run: Run, path: str, task: str
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """People's labels, each with its chance, and the judge's of the same things.

    Raises DataError for a label that the task doesn't have: a slip, where the words are given.
    """
    items, scale = verdicts(run, task), scale_of(task)
    odd = people.filter(pl.col("label").is_not_null() & scale.places(people["label"]).is_null())
    if not odd.is_empty():
        said = f"expected one of {', '.join(scale.labels)}"
        raise DataError(
            [
                Problem(path, line, None, "off_scale", f"label is {label[:40]!r}, {said}")
                for line, label in odd.select("line", "label").iter_rows()
            ]
        )
    weighted = weighed(people, items, chances(people, run, task))
    return weighted, judged(items, weighted)


def _hashes(asked: Asked, run: Run | None) -> dict[str, str]:
    """Of what people and the judge said."""
    sides = {"human": files.described(files.read_bytes(asked.human[0]))}
    if run is not None:
        sides["judge"] = run.manifest["files"]["judgements.parquet"]
    elif asked.judge is not None:
        sides["judge"] = files.described(files.read_bytes(asked.judge))
    return {side: one["sha256"] for side, one in sides.items()}


def _positive(asked: Asked, scale: Scale) -> str | None:
    cut = None if asked.positive is None else canonical(asked.positive)
    if asked.positive is not None and cut not in scale.labels:
        raise ConfigError(
            f"--positive {asked.positive} is not on the scale {', '.join(scale.labels)}"
        )
    return cut


def _stated(scale: str) -> Scale:
    """The labels that somebody put in order, words as well as numbers."""
    labels = [canonical(part) for part in scale.split(",")]
    named = [label for label in labels if label is not None]
    twice, infinite = len(set(named)) < len(named), bool(set(named) & set(INFINITE))
    if len(named) < len(labels) or twice or infinite or len(named) < 2:
        said = "expected two labels or more, each once: 0,1,2,3"
        raise ConfigError(f"--scale {scale!r}: {said}")
    return Scale(tuple(named), ordinal=True)


def _bound(
    asked: Asked, run: Run | None, model: str | None, revision: str | None, prompt: str | None
) -> Judge:
    if run is not None:
        return judge_of(run, str(asked.task), asked.language)
    if not model or not prompt or asked.task is None:
        raise ConfigError("--record needs --model, --prompt and --task: it is bound to them")
    return Judge(
        model=model, revision=revision, prompt=prompt, task=asked.task, language=asked.language
    )


def judge_of(run: Run, task: str, language: str | None) -> Judge:
    """Which judge a run had. Raises ConfigError without one."""
    pins = run.manifest.get("judge")
    if pins and pins.get("origin"):
        raise ConfigError(
            f"run {run.run_id} has verdicts of {pins['model']} that came with {pins['origin']}: "
            "by which model and prompt is not known, so no record can be bound to them. Leave out "
            "--record, or judge the answers with `score --judge`"
        )
    if not pins or task not in pins["prompts"]:
        raise ConfigError(f"run {run.run_id} has no judge of {task!r}")
    prompt = pins["prompts"][task]["hash"]
    return Judge(
        model=pins["model"], revision=pins["revision"], prompt=prompt, task=task, language=language
    )
