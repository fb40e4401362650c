"""Near-duplicate questions across splits: what was tuned on one split is known on the other."""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from rayeval.errors import Problem
from rayeval.golden.lint.notes import notes
from rayeval.golden.problems import shown
from rayeval.golden.similar import similar
from rayeval.words import percent


def asked(questions: pa.Table) -> pl.Series:
    """Each question as it was asked: the conversation before it is part of it."""
    frame = pl.DataFrame(pl.from_arrow(questions.select(["question", "history"])))
    before = pl.col("history").list.eval(pl.element().struct.field("content")).list.join(" ")
    return frame.select(pl.concat_str([before, "question"], separator=" "))["history"]


def near_duplicates(questions: pa.Table, field: str = "split") -> pl.DataFrame:
    """Every question that has a near-duplicate of another `field`, with the most similar of these.

    Returns row, other (rows of `questions`), similarity, count; null is no value to differ by.
    """
    pairs = similar(asked(questions))
    one = pl.DataFrame({"row": pairs.left, "other": pairs.right, "similarity": pairs.similarity})
    both = pl.concat([one, one.select(row="other", other="row", similarity="similarity")])
    values = pl.Series(questions[field].to_pylist(), dtype=pl.String)
    apart = both.filter(values.gather(both["row"]) != values.gather(both["other"]))
    apart = apart.sort("row", "similarity", "other", descending=[False, True, False])
    first = apart.group_by("row", maintain_order=True)
    return first.agg(pl.col("other", "similarity").first(), count=pl.len())


def across_splits(questions: pa.Table) -> list[Problem]:
    """A warning for each question that is nearly asked in another split too."""
    ids, splits, texts = (questions[n].to_pylist() for n in ("question_id", "split", "question"))
    found = []
    for row, other, similarity, count in near_duplicates(questions).iter_rows():
        more = f" (and {count - 1} more)" if count > 1 else ""
        found.append(
            (
                row,
                f"in split {splits[row]!r}, yet {ids[other]!r} of split {splits[other]!r} asks "
                f"nearly the same{more}, {percent(similarity)} alike: "
                f"{shown(texts[other])}; put both "
                "in one split (`rayeval golden split --by template`) or drop one",
            )
        )
    return notes(questions, "near_duplicate", found)
