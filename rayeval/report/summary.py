"""A run as one JSON document: what `run --json` and `score --json` print (DESIGN §12)."""

from __future__ import annotations

from typing import Any

import polars as pl

from rayeval.report.answered import answered_json
from rayeval.report.judgements import judge_json
from rayeval.report.tables import Tables


def summary(run: Tables) -> dict[str, Any]:
    """Counts, means, slices; of a run with answers their refusals and brackets, and of one with a
    judge how that went."""
    status = dict.fromkeys(("success", "failed", "error", "missing"), 0)
    status |= _counts(run.failures, "status")
    failed = run.failures.filter(pl.col("status") == "failed")
    judged = judge_json(run)
    return {
        "run_id": run.run_id,
        "path": run.path,
        "n": run.questions.height,
        "status": status,
        "failures": _counts(failed, "code"),
        "metrics": _metrics(run.aggregate),
        "slices": {
            name: _metrics(part)
            for (name,), part in run.slices.group_by("slice", maintain_order=True)
        },
        **answered_json(run),
        **({"judge": judged} if judged else {}),
    }


def _counts(table: pl.DataFrame, column: str) -> dict[str, int]:
    counted = table.group_by(column).len().sort(pl.col("len"), column, descending=[True, False])
    return dict(counted.iter_rows())


def _metrics(table: pl.DataFrame) -> dict[str, dict[str, dict[str, Any]]]:
    """stage → metric → mean and counts; an undefined mean is null."""
    stages: dict[str, dict[str, dict[str, Any]]] = {}
    for row in table.iter_rows(named=True):
        mean = row["mean"] if row["mean"] is not None and row["mean"] == row["mean"] else None
        counts = {name: row[name] for name in ("n", "n_undefined", "n_missing", "n_error")}
        stages.setdefault(row["stage"], {})[row["metric"]] = {"mean": mean, **counts}
    return stages
