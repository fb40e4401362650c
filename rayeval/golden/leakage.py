"""What two splits of a golden set have in common, though one is tuned on and the other judges."""

from __future__ import annotations

from typing import Any

import polars as pl
import pyarrow as pa

from rayeval.golden.lint.duplicates import near_duplicates
from rayeval.golden.shared import source_values

EXAMPLES = 5


def leakage(questions: pa.Table) -> dict[str, dict[str, Any]]:
    """`sources`, `clusters` and `near_duplicates` across splits: how many, and the first.

    questions: tables.QUESTIONS or RESOLVED, `split` filled in.
    """
    clusters = pl.DataFrame(
        {"row": range(questions.num_rows), "value": questions["cluster"].to_pylist()},
        schema={"row": pl.Int64, "value": pl.String},
    ).drop_nulls()
    near = near_duplicates(questions)
    ids = pl.Series(questions["question_id"].to_pylist(), dtype=pl.String)
    pairs = near.select(pl.min_horizontal("row", "other"), b=pl.max_horizontal("row", "other"))
    shown = [[ids[a], ids[b]] for a, b in pairs.unique().sort("row", "b").head(EXAMPLES).rows()]
    return {
        "sources": _across(source_values(questions), questions),
        "clusters": _across(clusters, questions),
        "near_duplicates": {"questions": near.height, "examples": shown},
    }


def _across(values: pl.DataFrame, questions: pa.Table) -> dict[str, Any]:
    """Values whose questions are of more than one split."""
    splits = pl.Series(questions["split"].to_pylist(), dtype=pl.String)
    frame = values.with_columns(split=splits.gather(values["row"])).drop_nulls()
    apart = frame.filter(pl.col("split").n_unique().over("value") > 1)
    names = apart["value"].unique().sort()
    return {
        "count": len(names),
        "questions": apart["row"].n_unique(),
        "examples": names.head(EXAMPLES).to_list(),
    }
