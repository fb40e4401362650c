"""Synthetic questions that don't say so, or that nobody has checked."""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from rayeval.errors import Problem
from rayeval.golden.lint.notes import notes
from rayeval.golden.problems import shown

MADE = (
    r"(?i)\b(synthetic\w*|synthesi[sz]ed|generat(ed|or)|llms?|(chat)?gpt[\w.-]*|claude|gemini|"
    r"llama|mistral|qwen|ragas)\b|합성|자동 ?생성|생성형"
)
"""How people say that a model wrote a question."""


def unmarked(questions: pa.Table) -> list[Problem]:
    """A warning for each row that says a model made it and whose origin is another."""
    frame = _frame(questions)
    said = pl.concat_list(pl.col("created_from").fill_null(""), "slices").list.eval(
        pl.element().filter(pl.element().str.contains(MADE))
    )
    rows = frame.with_columns(said=said.list.first()).filter(
        (pl.col("origin") != "synthetic") & pl.col("said").is_not_null()
    )
    found = [
        (row["row"], f"says {shown(row['said'])}, yet its origin is {row['origin']}; "
                     "set `origin: synthetic`, and `validated: true` once somebody has checked it")
        for row in rows.iter_rows(named=True)
    ]  # fmt: skip
    return notes(questions, "synthetic_unmarked", found)


def unvalidated(questions: pa.Table) -> list[Problem]:
    """A warning for each synthetic row that nobody has validated."""
    rows = _frame(questions).filter((pl.col("origin") == "synthetic") & ~pl.col("validated"))
    message = (
        "synthetic and not validated, so outside means and gates; check it against the documents "
        "and set `validated: true`"
    )
    return notes(questions, "synthetic_unvalidated", [(row, message) for row in rows["row"]])


def _frame(questions: pa.Table) -> pl.DataFrame:
    names = ["origin", "validated", "created_from", "slices"]
    return pl.DataFrame(pl.from_arrow(questions.select(names))).with_row_index("row")
