"""Evidence that names a revision which no longer counts."""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa

from rayeval.columns import flatten
from rayeval.errors import Problem
from rayeval.golden.lint.notes import notes

KEY = ["source_id", "revision_id"]


def dead_revisions(questions: pa.Table, catalogue: pa.Table, *, relevant: int = 2) -> list[Problem]:
    """A problem where gold's source is deleted, a warning where another revision has taken over.

    questions: RESOLVED. That a revision is unknown is said where evidence is located.
    """
    rows, evidence = flatten(questions["evidence"])
    names = ["evidence_id", *KEY, "relevance"]
    stated = pa.table({name: evidence.field(name) for name in names})
    known = pl.DataFrame(pl.from_arrow(catalogue.select([*KEY, "deleted_at", "current"])))
    items = pl.DataFrame(pl.from_arrow(stated)).with_columns(row=rows)
    items = items.filter(pl.col("relevance") >= relevant)
    dead = items.join(known, on=KEY).filter(~pl.col("current"))
    current = known.filter("current").select("source_id", now="revision_id")
    gone = known.filter(~pl.col("current")).group_by("source_id").agg(pl.col("deleted_at").max())
    dead = dead.drop("deleted_at").join(current, on="source_id", how="left")
    dead = dead.join(gone, on="source_id", how="left").sort("row", "evidence_id")
    deleted = pl.col("now").is_null() & pl.col("deleted_at").is_not_null()
    found = []
    for warning, part in ((False, dead.filter(deleted)), (True, dead.filter(~deleted))):
        said = [(row["row"], _said(row)) for row in part.iter_rows(named=True)]
        found += notes(questions, "dead_revision", said, warning=warning)
    return found


def _said(row: dict[str, Any]) -> str:
    who = f"evidence {row['evidence_id']!r} names revision {row['revision_id']!r} of "
    who += f"{row['source_id']!r}"
    if row["now"] is not None:
        return (
            f"{who}, which {row['now']!r} has superseded; leave `revision_id` out to mean the "
            "valid one, unless the question is about the old one"
        )
    if row["deleted_at"] is not None:
        return (
            f"{who}, which was deleted on {row['deleted_at']:%Y-%m-%d}; drop the evidence, or say "
            "`answerable: false` where nothing else answers"
        )
    return f"{who}, which is not valid at the time of looking (`corpus.as_of`); no revision is"
