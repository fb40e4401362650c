"""How a run's questions ended and what they are, in counts: read by parts, never whole."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import polars as pl

from rayeval.metrics.totals import SYNTHETIC
from rayeval.report.tables import Tables
from rayeval.tables import UNLABELLED

FAILURES = ["question_id", "status", "code", "stage", "observed_stages", "reached_stages"]
QUESTIONS = ["question_id", "answerable", "slices", "labels"]
FORBIDDEN = "forbidden"
OF_CORPUS = ("ingest", "parse", "chunk", "filter")
"""Observed of documents, whatever a trace has of a question."""


@dataclass(frozen=True)
class Lost:
    """One failure code and the questions it names."""

    code: str
    stage: str
    questions: tuple[str, ...]


@dataclass(frozen=True)
class Ended:
    """How the answerable questions of a run ended."""

    answerable: int
    status: dict[str, int]
    lost: tuple[Lost, ...]
    """By code and stage, the most frequent first."""
    bounds: tuple[tuple[str, int], ...]
    """Every observed stage, in order, and the questions that reached it whole."""
    error: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True)
class Asked:
    """What the questions of a run are."""

    questions: int
    answerable: int
    forbidden: int
    aside: int
    """Synthetic ones that nobody checked, which count in their own slice only."""
    unlabelled: tuple[str, ...]
    unsaid: int
    """Those of them of which nobody said whether they are answerable."""


def place() -> pl.Expr:
    """Where a question's walk ended; null of one that the trace lacks as a whole: it is missing,
    and not lost at the first stage. Of `status, stage, observed_stages`."""
    unseen = pl.col("observed_stages").list.set_difference(list(OF_CORPUS)).list.len() == 0
    return pl.when((pl.col("status") != "missing") | ~unseen).then("stage").alias("stage")


def ended(run: Tables) -> Ended:
    """Of the table of first failures."""
    status, reached = Counter[str](), Counter[str]()
    observed: dict[str, None] = {}
    odd = []
    for part in run.parts("failures", FAILURES):
        status.update(dict(part["status"].value_counts().iter_rows()))
        seen = part["observed_stages"].explode().drop_nulls().unique(maintain_order=True)
        observed |= dict.fromkeys(seen.to_list())
        counts = part["reached_stages"].explode().drop_nulls().value_counts()
        reached.update(dict(counts.iter_rows()))
        odd.append(part.filter(pl.col("status") != "success").drop(FAILURES[-2:]))
    rows = pl.concat(odd)
    error, missing = (
        tuple(rows.filter(pl.col("status") == name)["question_id"].sort().to_list())
        for name in ("error", "missing")
    )
    bounds = tuple((stage, reached[stage]) for stage in observed)
    known = dict.fromkeys(("success", "failed", "error", "missing"), 0)
    return Ended(status.total(), {**known, **status}, _lost(rows), bounds, error, missing)


def _lost(rows: pl.DataFrame) -> tuple[Lost, ...]:
    failed = rows.filter(pl.col("status") == "failed")
    grouped = failed.group_by("code", "stage").agg(pl.col("question_id").sort(), n=pl.len())
    grouped = grouped.sort("n", "code", "stage", descending=[True, False, False])
    return tuple(
        Lost(row["code"], row["stage"], tuple(row["question_id"]))
        for row in grouped.iter_rows(named=True)
    )


def asked(run: Tables) -> Asked:
    """Of the table of questions."""
    counts, unlabelled = Counter[str](), list[str]()
    can, slices = pl.col("answerable"), pl.col("slices").list
    for part in run.parts("questions", QUESTIONS):
        counts["questions"] += part.height
        counts["answerable"] += int(part["answerable"].sum())
        counts["unsaid"] += part["answerable"].null_count()
        counts["forbidden"] += part.filter(slices.contains(FORBIDDEN)).height
        counts["aside"] += part.filter(slices.contains(SYNTHETIC) & can).height
        unlabelled += part.filter(pl.col("labels") == UNLABELLED)["question_id"].to_list()
    return Asked(
        counts["questions"],
        counts["answerable"],
        counts["forbidden"],
        counts["aside"],
        tuple(unlabelled),
        counts["unsaid"],
    )
