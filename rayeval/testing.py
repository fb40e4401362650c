"""Floors under a run's metrics, for pytest.

def test_search():
    run = rayeval.evaluate(search, golden="golden.csv", k=3)
    assert_metrics(run, {"recall@3": 0.9})
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from rayeval.errors import ConfigError
from rayeval.metrics.names import METRICS
from rayeval.report.advice import advice
from rayeval.report.plain import printable
from rayeval.report.tables import Tables
from rayeval.words import plural

SHOWN = 10
"""Questions that a failure prints."""
WIDTH = 100
"""Columns of what it prints."""
ROUNDING = 1e-12
MEASURED = "evaluate(…, metrics=[…]) names others, and k= where they cut"


def assert_metrics(
    run: Tables,
    floors: Mapping[str, float],
    *,
    stage: str | None = None,
    slice: str | None = None,  # noqa: A002 - what a gate calls it too
) -> None:
    """Raises AssertionError unless every metric's mean is at least its floor.

    floors: metric, as the run calls it → the least mean. stage: default: the run's last one.
    slice: only the questions of this slice.
    NaN, a slice without questions and questions with errors never pass. The message shows the
    questions that pull a metric below its floor, by how much, why, and what to look at.
    Raises ConfigError for a stage, slice or metric that the run doesn't have, and for a metric of
    which less is better.
    """
    __tracebackhide__ = True
    stage = stage or str(run.manifest["stages"][-1])
    try:
        rows = _rows(run, floors, stage, slice)
    except ConfigError as error:  # the caller's line is at fault, so it is the last one shown
        raise ConfigError(str(error)) from None
    wrong = {name: list(_wrong(rows[name], name, floor)) for name, floor in floors.items()}
    short = [name for name, said in wrong.items() if said]
    if short:
        said = dict.fromkeys(line for name in short for line in wrong[name])
        where = f"stage {stage!r}" + (f", slice {slice!r}" if slice is not None else "")
        below = {name: floors[name] for name in short if _below(rows[name], floors[name])}
        questions = list(_questions(run, below, stage, slice))
        lines = [
            f"run {run.run_id}, {where}:",
            *(f"  {line}" for line in said),
            *questions,
            f"files: {run.path}",
        ]
        raise AssertionError(printable("\n".join(map(_wrapped, lines))))


def _rows(
    run: Tables, floors: Mapping[str, float], stage: str, part: str | None
) -> dict[str, dict[str, Any]]:
    """The row of every metric that has a floor."""
    if not isinstance(floors, Mapping) or not floors:
        raise ConfigError("no floor is given; write e.g. {'recall@3': 0.9}")
    table = run.aggregate if part is None else run.slices
    if part is not None:
        table = _known(table, "slice", part)
    table = _known(table, "stage", stage)
    found = {}
    for name, floor in floors.items():
        if not isinstance(floor, int | float) or not math.isfinite(floor):
            raise ConfigError(f"the floor of {name} is {floor}; expected a finite number")
        metric = METRICS.get(name.partition("@")[0])
        if metric is not None and metric.better == "lower":
            raise ConfigError(f"of {name} less is better, so a floor says nothing")
        found[name] = _known(table, "metric", name).row(0, named=True)
    return found


def _known(table: pl.DataFrame, column: str, name: str) -> pl.DataFrame:
    found = table.filter(pl.col(column) == name)
    if found.is_empty():
        there = ", ".join(table[column].unique(maintain_order=True).to_list()) or "none"
        more = f"; {MEASURED}" if column == "metric" else ""
        raise ConfigError(f"the run has no {column} {name!r}; it has {there}{more}")
    return found


def _wrong(row: Mapping[str, Any], name: str, floor: float) -> Iterator[str]:
    """What keeps a metric from passing, and what so many questions can tell."""
    mean, n = row["mean"], row["n"]
    if n == 0 or mean is None or math.isnan(mean):
        yield f"{name} is undefined: no question has a value for it (floor {floor:g})"
    elif _below(row, floor):
        yield f"{name} is {mean:.4f}, below the floor of {floor:g}"
        yield _worth(n)
    if row["n_error"]:
        verb = "is" if row["n_error"] == 1 else "are"
        yield f"{plural(row['n_error'], 'question')} ended in an error and {verb} in no mean"


def _below(row: Mapping[str, Any], floor: float) -> bool:
    return row["n"] > 0 and row["mean"] is not None and row["mean"] < floor - ROUNDING


def _worth(n: int) -> str:
    """How far the mean of `n` values in [0, 1] may be from the mean of all questions like these.

    Source: Hoeffding 1963, doi:10.1080/01621459.1963.10500830, theorem 2; two-sided at 95%.
    """
    margin = min(1.0, math.sqrt(math.log(2 / 0.05) / (2 * n)))
    return (
        f"  each of {plural(n, 'question')} is worth {1 / n:.3f} of it; of questions like these "
        f"the mean may "
        f"be {margin:.2f} off (95%)"
    )


def _questions(
    run: Tables, below: Mapping[str, float], stage: str, part: str | None
) -> Iterator[str]:
    """The questions that pull a metric below its floor, the farthest first, and those with errors.

    below: metric → the floor that it is under.
    """
    asked = run.questions.select("question_id", "question", "slices")
    if part is not None:
        asked = asked.filter(pl.col("slices").list.contains(part))
    numbers = run.per_query.filter(pl.col("stage") == stage)
    gaps = [(pl.col(name).fill_nan(None) - floor) for name, floor in below.items()]
    worst = pl.min_horizontal(*gaps, pl.lit(None, pl.Float64))
    short = (pl.col("worst") < -ROUNDING) | (pl.col("status") == "error")
    bad = numbers.with_columns(worst=worst).filter(short)
    why = run.failures.select("question_id", "code", at="stage", ended="status")
    rows = bad.join(asked, on="question_id").join(why, on="question_id", how="left")
    rows = rows.sort("worst", "question_id", nulls_last=False)
    if rows.is_empty():
        return
    yield f"{plural(rows.height, 'question')} fell short:"
    for row in rows.head(SHOWN).iter_rows(named=True):
        yield f"  {row['question_id']}  {_reason(row, below)}  {_short(row['question'])}"
        yield from _error(run, row["question_id"], stage)
    if rows.height > SHOWN:
        yield f"  … and {rows.height - SHOWN} more: run.failures has them all"
    lost = rows.drop_nulls("code").group_by("code").agg("question_id").sort("code")
    codes = sorted(lost.iter_rows(), key=lambda item: -len(item[1]))
    yield from (f"look at {line}" for line in advice([(code, ids) for code, ids in codes]))


def _reason(row: Mapping[str, Any], below: Mapping[str, float]) -> str:
    """`recall@3 0.500, RERANK_DEMOTED_GOLD at reranked`: in what it fell short, and why."""
    if row["status"] == "error":
        return "error"
    value = {name: row[name] for name in below}
    short = [f"{name} {v:.3f}" for name, v in value.items() if v is not None and v < below[name]]
    end = f"{row['code']} at {row['at']}" if row["code"] else row["ended"] or row["status"]
    return ", ".join([*short, "all gold there, further down" if end == "success" else end])


def _error(run: Tables, question_id: str, stage: str) -> Iterator[str]:
    row = run.trace.filter(question_id=question_id, stage=stage)
    if row.height and row["error"][0] is not None:
        yield f"    error: {_short(row['error'][0])}"


def _wrapped(line: str) -> str:
    """The line, at most WIDTH wide; it goes on indented below itself."""
    return textwrap.fill(
        line, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 70 else f"{text[:69]}…"
