"""Slices with too few questions to decide anything."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import combined
from rayeval.errors import Problem
from rayeval.golden.slices import all_slices
from rayeval.power import FEWEST_CLUSTERS, detectable, questions_needed
from rayeval.tables import UNLABELLED
from rayeval.words import plural

EVERYTHING = "all"
UNCHECKED = "synthetic_unvalidated"
WANTED = 0.1
"""A difference worth finding, unless the user names another."""


def slice_sizes(questions: pa.Table, clusters: pl.Series) -> pl.DataFrame:
    """slice, n, clusters, answerable, detectable: the questions that a comparison rests on.

    Those are the answerable ones (of a slice without any, its unanswerable ones), without what is
    not labelled yet, or synthetic and not validated outside that slice; EVERYTHING is all of them.
    `detectable` is null where there are too few to show anything, and of unanswerable questions,
    which no metric of retrieval counts (`answerable` is false).
    clusters: (n_questions,), what is drawn together.
    """
    answerable = pc.fill_null(combined(questions["answerable"]), True)
    given = questions.select(["origin", "validated", "labels"])
    frame = pl.DataFrame(pl.from_arrow(given)).with_columns(
        slice=pl.Series(_slices(questions, answerable), dtype=pl.List(pl.String)),
        cluster=clusters,
        answerable=pl.Series(answerable),
    )
    frame = frame.filter(pl.col("labels").ne_missing(pl.lit(UNLABELLED)))
    unchecked = (pl.col("origin") == "synthetic") & ~pl.col("validated")
    every = pl.concat_list(pl.lit(EVERYTHING), "slice")
    member = frame.with_columns(slice=every.list.unique(), unchecked=unchecked).explode("slice")
    member = member.filter(~pl.col("unchecked") | (pl.col("slice") == UNCHECKED))
    counted = member.filter(pl.col("answerable") | ~pl.col("answerable").any().over("slice"))
    sizes = counted.group_by("slice").agg(
        pl.col("answerable").any(), n=pl.len(), clusters=pl.col("cluster").n_unique()
    )
    shows = pl.col("n").map_elements(detectable, return_dtype=pl.Float64)
    sizes = sizes.with_columns(detectable=pl.when("answerable").then(shows)).sort("slice")
    return sizes.select("slice", "n", "clusters", "answerable", "detectable")


def too_few(sizes: pl.DataFrame, file: str, *, wanted: float = WANTED) -> list[Problem]:
    """A warning for each slice that can't show a difference of `wanted`, and how many it lacks."""
    return [
        Problem(file, None, None, "too_few_questions", message, warning=True)
        for message in _lacking(sizes, questions_needed(wanted), wanted)
    ]


def _lacking(sizes: pl.DataFrame, needed: int, wanted: float) -> Iterator[str]:
    for name, n, clusters, answerable, shows in sizes.iter_rows():
        if not answerable or (n >= needed and clusters >= FEWEST_CLUSTERS):
            continue
        who = "the whole set" if name == EVERYTHING else f"slice {name!r}"
        can = (
            f"enough for differences of {shows:.2f} or more"
            if shows is not None
            else "too few to show anything"
        )
        message = f"{who} has {plural(n, 'question')}: {can}"
        if n < needed:
            message += f"; {needed - n} more would show {wanted:g}"
        if clusters < FEWEST_CLUSTERS:
            message += f"; gates on the population need {FEWEST_CLUSTERS} clusters, there "
            message += f"{'is' if clusters == 1 else 'are'} {clusters}: ask about other documents"
        yield message


def _slices(questions: pa.Table, answerable: pa.Array) -> pa.Array:
    """Every question's slices, the automatic ones too, which QUESTIONS lacks."""
    forbidden = [("forbidden" in names) for names in questions["slices"].to_pylist()]
    return all_slices(questions, answerable, np.array(forbidden, dtype=bool))
