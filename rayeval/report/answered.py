"""What the answers of a run are worth, what brackets say, and what was refused (DESIGN §7)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import polars as pl

from rayeval.report.brackets import MEANT, bracket_table, brackets_json
from rayeval.report.scores import score_table
from rayeval.report.shown import Row, Shown
from rayeval.report.spent import spent, spent_table
from rayeval.report.tables import Tables, answered_stages
from rayeval.report.trust import unsure
from rayeval.words import percent, plural

HELD = ("right", "partly right", "wrong", "not known", "refused")
"""What became of an answer, as answers are counted by what their context held."""
UNSURE = " *"
"""Marks a metric whose judge is not calibrated for it."""
MARKED = "* by a judge that is not calibrated for it: it says where to look, and passes no gate"


def answered(run: Tables) -> tuple[Shown, ...]:
    """The tables of answers, and of the scores that could tell when to refuse; only those with
    something to say."""
    made: list[Callable[[Tables], Shown]] = (
        [metric_table, bracket_table, spread_table, _refusals, spent_table]
        if answered_stages(run)
        else []
    )
    if "thresholds.parquet" in run.manifest.get("files", ()):
        made.append(score_table)
    return tuple(table for table in (make(run) for make in made) if table.rows or table.notes)


def answered_json(run: Tables) -> dict[str, Any]:
    """The same as values, for scripts; empty where nothing was answered."""
    if not answered_stages(run):
        return {}
    return {
        "refusals": {stage: _stated(rates(run.abstention, stage)) for stage in _handed(run)},
        "brackets": brackets_json(run),
        "spent": spent(run),
    }


def _stated(numbers: Mapping[str, float]) -> dict[str, float | None]:
    """What is undefined is null."""
    return {name: None if math.isnan(value) else value for name, value in numbers.items()}


def _handed(run: Tables) -> list[str]:
    """The stages where a refusal can be right or false: those with a context."""
    return [stage for stage in answered_stages(run) if stage != "closed_book"]


def rates(abstention: pl.DataFrame, stage: str, slice_: str | None = None) -> dict[str, Any]:
    """Right and false refusals of a stage's answers, as counts and rates; NaN of nothing.

    precision: right refusals / refusals. accuracy: (right refusals + answerable questions that were
    answered) / all. unlabelled: answers to questions of which nobody said which kind they are.
    """
    rows = abstention.filter(pl.col("stage") == stage, pl.col("slice").eq_missing(pl.lit(slice_)))
    unsaid = rows.filter(pl.col("answerable").is_null(), pl.col("refused").is_not_null())
    counts = rows.drop_nulls("refused").group_by("answerable", "refused").agg(pl.col("n").sum())
    of = {(can, refused): n for can, refused, n in counts.iter_rows()}
    right, answered_wrongly = of.get((False, True), 0), of.get((False, False), 0)
    false, answered_ = of.get((True, True), 0), of.get((True, False), 0)
    unanswerable, answerable = right + answered_wrongly, false + answered_
    return {
        "unanswerable": unanswerable,
        "right_refusals": right,
        "answerable": answerable,
        "false_refusals": false,
        "unlabelled": int(unsaid["n"].sum()),
        "right_refusal": _share(right, unanswerable),
        "false_refusal": _share(false, answerable),
        "precision": _share(right, right + false),
        "accuracy": _share(right + answered_, unanswerable + answerable),
    }


def _share(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def metric_table(run: Tables) -> Shown:
    """A row per metric that some question has a value, or a failure, of."""
    stages = answered_stages(run)
    cells = {(r["stage"], r["metric"]): r for r in run.aggregate.iter_rows(named=True)
             if r["stage"] in stages}  # fmt: skip
    names = dict.fromkeys(metric for _, metric in cells)
    open_ = unsure(run)
    rows = []
    for name in names:
        every = [cells.get((stage, name)) for stage in stages]
        if any(cell and (cell["n"] or cell["n_error"]) for cell in every):
            means = [_mean(cell) for cell in every]
            counts = [_each([cell[kind] for cell in every if cell]) for kind in ("n", "n_error")]
            n, errors = counts[0], counts[1] if counts[1] != "0" else ""
            rows.append(Row(name + UNSURE * (name in open_), (*means, n, errors)))
    notes = (MARKED,) if any(row.name.endswith(UNSURE) for row in rows) else ()
    return Shown("Answers (means over all questions)", ("metric", *stages, "n", "errors"),
                 tuple(rows), notes)  # fmt: skip


def _each(counts: list[int]) -> str:
    """One number if they are all the same, else the stages' in order."""
    return " · ".join(map(str, counts if len(set(counts)) > 1 else counts[:1]))


def _mean(cell: Mapping[str, Any] | None) -> float | str:
    if cell is None:
        return ""
    return math.nan if cell["mean"] is None else float(cell["mean"])


def spread_table(run: Tables) -> Shown:
    """Of answers given several times."""
    own = run.spread.filter(pl.col("stage") == "answer", pl.col("metric").is_in(MEANT))
    rows = [
        Row(row["metric"], (row["within"], row["between"], str(row["repeated"])))
        for row in own.iter_rows(named=True)
    ]
    columns = ("", "within questions", "between questions", "questions")
    return Shown("Spread over repeats (standard deviations)", columns, tuple(rows))


def _refusals(run: Tables) -> Shown:
    """Evidence × refused × right, and the rates."""
    rows = [
        Row(held if can else "unanswerable", tuple(map(str, counts)))
        for can, held, counts in by_evidence(run)
    ]
    title, columns = "Answers by what their context held", ("context held", *HELD)
    return Shown(title, columns, tuple(rows), refusal_notes(run))


def by_evidence(run: Tables) -> tuple[tuple[bool, str, tuple[int, ...]], ...]:
    """(answerable, how much of the evidence the context held, how many are HELD) of the answers of
    the stage `answer` to all questions that count for means."""
    own = run.abstention.filter(pl.col("stage") == "answer", pl.col("slice").is_null())
    own = own.with_columns(pl.col("answerable").fill_null(True))  # of unknown evidence, anyway
    rows = []
    for (can, level), part in own.group_by("answerable", "evidence", maintain_order=True):
        counts = [_count(part, refused=False, right=kind) for kind in ("right", "partial", "wrong")]
        unknown = _count(part, refused=False, right=None)
        held = f"{level or 'unknown'} of the evidence"
        rows.append((bool(can), held, (*counts, unknown, _count(part, refused=True))))
    return tuple(rows)


def refusal_notes(run: Tables) -> tuple[str, ...]:
    """Right and false refusals of every stage with a context, a line each."""
    return tuple(s for stage in _handed(run) for s in _rates(stage, rates(run.abstention, stage)))


def _count(part: pl.DataFrame, *, refused: bool, right: str | None = None) -> int:
    rows = part.filter(pl.col("refused") == refused, pl.col("right").eq_missing(pl.lit(right)))
    return int(rows["n"].sum())


def _rates(stage: str, found: Mapping[str, Any]) -> Iterator[str]:
    """The refusals of a stage in a line."""
    if not found["unanswerable"] + found["answerable"]:
        return
    said = [
        f"{found[f'{kind}_refusals']:,} of {found[which]:,} answers to {which} questions "
        f"({kind}, {percent(found[f'{kind}_refusal'])})"
        for kind, which in (("right", "unanswerable"), ("false", "answerable"))
        if found[which]
    ]
    more = f"; accuracy {percent(found['accuracy'])}"
    if found["right_refusals"] + found["false_refusals"]:
        more += f", precision of refusals {percent(found['precision'])}"
    both = found["unanswerable"] and found["answerable"]
    n = found["unlabelled"]
    aside = f"; {plural(n, 'answer')} to questions not labelled yet left out" if n else ""
    yield f"{stage}: refused {', '.join(said)}{more if both else ''}{aside}"
