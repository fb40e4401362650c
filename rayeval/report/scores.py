"""Whether the score of the best hit tells when to refuse."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from rayeval.metrics.answers.scores import FEWEST
from rayeval.report.shown import Row, Shown
from rayeval.report.tables import Tables
from rayeval.words import verb


def score_table(run: Tables) -> Shown:
    """How well every stage's best score tells whether there is an answer."""
    every = run.thresholds.filter(pl.col("slice").is_null()).to_dicts()
    rows = []
    for row in every:
        names = ("auroc", "area", "threshold", "right_refusal", "false_refusal")
        numbers = [math.nan if row[name] is None else row[name] for name in names]
        n = f"{row['n_answerable']:,} · {row['n_unanswerable']:,}"
        rows.append(Row(row["stage"], (n, *numbers, str(row["n_test"]))))
    refused = ("refused rightly", "falsely", "of test")
    columns = ("stage", "n", "AUROC", "risk area", "threshold of dev", *refused)
    title = "Best score: answerable against unanswerable questions (n of each)"
    return Shown(title, columns, tuple(rows), tuple(_too_few(every)))


def _too_few(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Why there are no thresholds."""
    few = [row for row in rows if row["calibrated_on"] is None]
    if few:
        most = max(few, key=lambda row: min(_of_dev(row)))
        can, none = _of_dev(most)
        yield (
            f"A threshold needs {FEWEST} answerable and {FEWEST} unanswerable questions of split "
            f"dev; there {verb(can + none, 'is', 'are')} {can:,} and {none:,}."
        )


def _of_dev(row: Mapping[str, Any]) -> tuple[int, int]:
    """Answerable and unanswerable questions of split dev."""
    none = row.get("n_dev_unanswerable") or 0
    return row["n_dev"] - none, none
