"""What a page says of answers and their judge over all questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from rayeval.judge.record import Record, pinned
from rayeval.report.answered import (
    HELD,
    by_evidence,
    refusal_notes,
    spread_table,
)
from rayeval.report.brackets import brackets
from rayeval.report.judgements import judge_json
from rayeval.report.page.answer_means import SLICES, answer_means, largest
from rayeval.report.page.outcomes import STAGE
from rayeval.report.scores import score_table
from rayeval.report.shown import Shown
from rayeval.report.slices import telling
from rayeval.report.spent import spent_table
from rayeval.report.tables import Tables, answered_stages
from rayeval.report.trust import unsure

RECORD = ("n", "clusters", "kappa", "kappa_quadratic", "agreement", "floor", "made")
UNANSWERABLE = "nothing: unanswerable"


def answers_of(run: Tables) -> dict[str, Any] | None:
    """Everything of the section on answers; None where nothing was answered."""
    if not answered_stages(run):
        return None
    return {
        "variants": list(answered_stages(run)),
        "judged": "correctness" in ((run.manifest.get("judge") or {}).get("tasks") or ()),
        "notes": [*refusal_notes(run)],
        "held": {"columns": list(HELD), "rows": _held(run)},
        "means": answer_means(run),
        "unsure": sorted(unsure(run)),
        "leftOut": _left_out(run),
        "brackets": _brackets(run),
        "spread": shown_json(spread_table(run)),
        "spent": shown_json(spent_table(run)),
        "scores": shown_json(score_table(run)) if _has(run, "thresholds") else None,
        "curves": _curves(run) if _has(run, "risk_coverage") else {},
        "judge": standing(run),
    }


def _has(run: Tables, table: str) -> bool:
    return f"{table}.parquet" in run.manifest.get("files", ())


def shown_json(table: Shown) -> dict[str, Any]:
    """A table of the terminal's, for a page."""
    return {
        "title": table.title,
        "columns": list(table.columns),
        "rows": [[row.name, *row.cells] for row in table.rows],
        "notes": list(table.notes),
    }


def _held(run: Tables) -> list[list[Any]]:
    """[what the context held, counts]: an answer to an unanswerable question is a wrong one."""
    rows: list[list[Any]] = []
    for can, held, (right, partly, wrong, unknown, refused) in by_evidence(run):
        if can:
            rows.append([held, right, partly, wrong, unknown, refused])
        else:
            rows.append([UNANSWERABLE, 0, 0, right + partly + wrong + unknown, 0, refused])
    order = [UNANSWERABLE, "none of the evidence", "some of the evidence", "all of the evidence"]
    place = {name: number for number, name in enumerate(reversed(order))}
    return _added(sorted(rows, key=lambda row: place.get(row[0], len(order) - 1.5)))


def _added(rows: list[list[Any]]) -> list[list[Any]]:
    """Rows of the same name as one."""
    found: dict[str, list[int]] = {}
    for name, *counts in rows:
        before = found.get(name, [0] * len(counts))
        found[name] = [one + other for one, other in zip(before, counts, strict=True)]
    return [[name, *counts] for name, counts in found.items()]


def _left_out(run: Tables) -> str:
    """What of the means by slice a page doesn't hold."""
    slices = telling(run).filter(pl.col("stage") == STAGE, pl.col("n") > 0)["slice"].n_unique()
    if slices > len(largest(run)) == SLICES:
        return f"the {SLICES} largest of {slices:,} slices are here; slices.parquet has all"
    return ""


def _brackets(run: Tables) -> list[list[Any]]:
    """[less, more, [[metric, from, to, difference, low, high, n], …]]."""
    pairs = []
    for name, rows in brackets(run).items():
        more, _, less = name.partition("-")
        figures = [
            [metric, one.less, one.more, one.mean, one.low, one.high, one.n]
            for metric, one in rows.items()
        ]
        pairs.append([less, more, figures])
    return pairs


def _curves(run: Tables) -> dict[str, list[list[float]]]:
    """Stage → [coverage, risk, threshold], coverage ascending."""
    table = run.risk_coverage.sort("coverage", maintain_order=True)
    columns = ("coverage", "risk", "threshold")
    return {
        str(stage): [list(row) for row in rows.select(columns).iter_rows()]
        for (stage,), rows in table.group_by("stage", maintain_order=True)
    }


def standing(run: Tables) -> dict[str, Any] | None:
    """The judge: what pins it, how it replied, how far it agrees with itself and with people."""
    told = judge_json(run)
    if told is None:
        return None
    records = [record_json(one, told) for one in pinned(run.manifest.get("calibration"))]
    tasks = {
        task: {
            "prompt": _prompt(told["prompts"].get(task)),
            "outcomes": told["outcomes"].get(task, {}),
            "same": told["self_agreement"].get(task),
            "languages": [one for one in told["calibration"] if one["task"] == task],
        }
        for task in dict.fromkeys([*told["tasks"], *told["prompts"], *told["outcomes"]])
    }
    pins = ("model", "revision", "temperature", "seed", "origin")
    return {
        **{name: told.get(name) for name in pins},
        "asked": list(told["tasks"]),
        "tasks": tasks,
        "errors": told["errors"],
        "records": records,
    }


def _prompt(pins: Mapping[str, Any] | None) -> list[str] | None:
    return None if pins is None else [pins["name"], str(pins["version"]), pins["hash"]]


def record_json(record: Record, pins: Mapping[str, Any]) -> dict[str, Any]:
    """What people's labels said of a judge; `ours`: of exactly this one, prompt and all."""
    name = "kappa" if record.kappa_quadratic is None else "kappa_quadratic"
    return {
        "task": record.judge.task,
        "language": record.judge.language,
        "ours": record.is_of(pins, record.judge.task),
        **{key: getattr(record, key) for key in RECORD},
        "weighed": name == "kappa_quadratic",
        "reached": getattr(record, name),
        "limits": record.intervals.get(name),
    }
