"""The slices that every question is in without being put there."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from rayeval.columns import flatten, lists
from rayeval.tables import TEXTS

Bools = npt.NDArray[np.bool_]
AUTOMATIC = re.compile("(?s:(language|origin|split|answerable):.*)|forbidden|synthetic_unvalidated")
"""Their names, which mean what they say only while nobody else uses them."""


def all_slices(questions: pa.Table, answerable: pa.Array, forbidden: Bools) -> pa.Array:
    """Each question's own slices and the automatic ones, sorted, each once.

    questions: any rows of tables.QUESTIONS.
    answerable, forbidden: (n_questions,), for this asker; answerable is null where nobody said.
    """
    rows, own = flatten(questions["slices"])
    fields = questions.select(["language", "origin", "split", "validated"])
    frame = pl.DataFrame(pl.from_arrow(fields)).with_row_index("row")
    frame = frame.with_columns(answerable=pl.Series(answerable), forbidden=pl.Series(forbidden))
    unchecked = (pl.col("origin") == "synthetic") & ~pl.col("validated")
    automatic = frame.select(
        "row",
        language="language:" + pl.col("language"),
        origin="origin:" + pl.col("origin"),
        split="split:" + pl.col("split"),
        answerable="answerable:" + pl.col("answerable").cast(pl.String),
        forbidden=pl.when("forbidden").then(pl.lit("forbidden")),
        unchecked=pl.when(unchecked).then(pl.lit("synthetic_unvalidated")),
    ).unpivot(index="row", value_name="slice")
    stated = pl.DataFrame({"row": pl.Series(rows, dtype=pl.UInt32), "slice": pl.Series(own)})
    every = pl.concat([stated, automatic.select("row", "slice")], how="vertical_relaxed")
    every = every.drop_nulls().unique().sort("row", "slice")
    texts = every["slice"].to_arrow().cast(TEXTS.value_type)
    return lists(every["row"].to_numpy(), texts, questions.num_rows)
