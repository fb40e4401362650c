"""What a golden set holds, and what it can decide."""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa

from rayeval.columns import flatten
from rayeval.golden.clusters import clusters
from rayeval.golden.lint.sizes import slice_sizes
from rayeval.power import questions_needed

FIELDS = ("split", "language", "origin", "labels", "label_version")
NONE = "(none)"


def stats(questions: pa.Table, *, detect: float) -> dict[str, Any]:
    """Counts of tables.QUESTIONS.

    detect: the difference that a slice ought to show.
    Returns `questions`, `counts` (field → value → questions), `evidence`, `clusters`, `slices`.
    """
    drawn = clusters(questions)
    sizes = slice_sizes(questions, drawn)
    needed = questions_needed(detect)
    largest = drawn.value_counts(sort=False).sort("count", "cluster", descending=[True, False])
    name, count = largest.row(0)
    return {
        "questions": questions.num_rows,
        "counts": _counts(questions),
        "evidence": _evidence(questions),
        "clusters": {
            "count": largest.height,
            "largest": name,
            "questions": count,
            "share": count / questions.num_rows,
        },
        "detect": detect,
        "slices": {
            row["slice"]: {
                "questions": row["n"],
                "clusters": row["clusters"],
                "answerable": row["answerable"],
                "detectable": row["detectable"],
                "lacking": max(0, needed - row["n"]) if row["answerable"] else None,
            }
            for row in sizes.iter_rows(named=True)
        },
    }


def _counts(questions: pa.Table) -> dict[str, dict[str, int]]:
    """How many questions have each value, the most frequent first."""
    frame = pl.DataFrame(pl.from_arrow(questions.select([*FIELDS, "slices"])))
    counts = {field: _counted(frame[field]) for field in FIELDS}
    counts["slice"] = _counted(frame["slices"].list.unique().explode().drop_nulls())
    for field in ("answerable", "validated"):
        counts[field] = _counted(pl.Series(questions[field].to_pylist()).cast(pl.String))
    rows, evidence = flatten(questions["evidence"])
    items = pl.DataFrame({"row": rows, "group": pl.Series(evidence.field("group_id"))})
    kinds = _kinds(evidence).to_frame("kind").with_columns(items["row"]).unique()["kind"]
    own = items.group_by("row").agg(pl.col("group").n_unique())["group"]
    none = pl.zeros(questions.num_rows - len(own), pl.UInt32, eager=True)
    counts["evidence by"] = _counted(kinds)
    groups = pl.concat([own.cast(pl.UInt32), none]).cast(pl.String)
    counts["groups"] = _counted(groups)
    return counts


def _counted(values: pl.Series) -> dict[str, int]:
    frame = values.fill_null(NONE).alias("value").value_counts()
    rows = frame.sort("count", "value", descending=[True, False]).rows()
    return dict(rows)


def _kinds(evidence: pa.StructArray) -> pl.Series:
    """(n_evidence,), by what each says where it stands."""
    names = ["spans", "quote", "element_id"]
    frame = pl.DataFrame(pl.from_arrow(pa.table({n: evidence.field(n) for n in names})))
    spans, quote = pl.col("spans").is_not_null(), pl.col("quote").is_not_null()
    return frame.select(
        pl.when(spans & quote)
        .then(pl.lit("offsets and quote"))
        .when(spans)
        .then(pl.lit("offsets"))
        .when(pl.col("element_id").is_not_null())
        .then(pl.lit("element"))
        .when(quote)
        .then(pl.lit("quote"))
        .otherwise(pl.lit("whole document"))
        .alias("kind")
    )["kind"]


def _evidence(questions: pa.Table) -> dict[str, int]:
    _, evidence = flatten(questions["evidence"])
    spans = pl.Series(evidence.field("spans")).list.len().fill_null(0).sum()
    return {"pieces": len(evidence), "spans": int(spans)}
