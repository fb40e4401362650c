"""Unanswerable questions whose reference answer does occur in the corpus."""

from __future__ import annotations

import re

import numpy as np
import polars as pl
import pyarrow as pa

from rayeval.columns import combined
from rayeval.errors import Problem
from rayeval.golden.access import Access
from rayeval.golden.anchor import normal, normalised
from rayeval.golden.lint.notes import notes
from rayeval.golden.problems import shown
from rayeval.words import plural

SHORTEST = 4
"""Shorter answers (`yes`, `5`) occur everywhere."""
KEY = ["source_id", "revision_id"]


class Answers:
    """Looks for the answers as the documents pass by: current ones that the asker may see.

    questions: RESOLVED. White space, case and Unicode form are no matter.
    """

    def __init__(self, questions: pa.Table, catalogue: pa.Table) -> None:
        self._questions = questions
        self._access = Access(catalogue)
        self._current = pl.DataFrame(
            pl.from_arrow(catalogue.filter(catalogue["current"]).select(KEY))
        )
        names = ["answerable", "reference_answer", "slices"]
        frame = pl.DataFrame(pl.from_arrow(questions.select(names))).with_row_index("row")
        forbidden = pl.col("slices").list.contains("forbidden").fill_null(False)
        frame = frame.filter(~pl.col("answerable") & ~forbidden).drop_nulls("reference_answer")
        forms = [normal(answer).lower() for answer in frame["reference_answer"]]
        wanted = frame.select(pl.col("row").cast(pl.Int64), form=pl.Series(forms, dtype=pl.String))
        self._wanted = wanted.filter(pl.col("form").str.len_chars() >= SHORTEST)
        self._places: list[tuple[int, str, str, int, int]] = []

    def see(self, documents: pa.Table) -> None:
        """Looks into these DOCUMENTS."""
        if self._wanted.is_empty():
            return
        texts = pl.DataFrame(pl.from_arrow(documents.select([*KEY, "text"]))).drop_nulls("text")
        texts = texts.join(self._current, on=KEY, how="semi", maintain_order="left")
        forms = pl.Series([normal(text).lower() for text in texts["text"]], dtype=pl.String)
        sought = pl.lit(self._wanted["form"].unique()).implode()
        held = forms.to_frame("said").select(
            form=pl.col("said").str.extract_many(sought, overlapping=True).list.unique()
        )
        pairs = texts.with_columns(held).explode("form").join(self._wanted, on="form")
        for source, revision, text, form, row in pairs.iter_rows():
            place = _stands(text, form)
            if place is not None:
                self._places.append((row, source, revision, *place))

    def problems(self) -> list[Problem]:
        """A warning for each question, with the first place where its answer stands."""
        seen = sorted(self._visible())
        answers = self._questions["reference_answer"].to_pylist()
        found: dict[int, str] = {}
        for row, source, _, start, end in seen:
            if row not in found:
                others = sum(place[0] == row for place in seen) - 1
                more = f" (and in {plural(others, 'other document')})" if others else ""
                found[row] = (
                    f"unanswerable, yet its reference answer {shown(answers[row])} stands in "
                    f"{source!r} at [{start}, {end}){more}; label it as evidence if it answers the "
                    "question, with relevance 1 or 0 if not"
                )
        return notes(self._questions, "answer_in_corpus", found.items())

    def _visible(self) -> list[tuple[int, str, str, int, int]]:
        """The places in documents that their question's asker may read."""
        rows = np.array([place[0] for place in self._places], dtype=np.int64)
        keys = {name: [place[1 + n] for place in self._places] for n, name in enumerate(KEY)}
        table = pa.table(
            {name: pa.array(column, pa.large_string()) for name, column in keys.items()}
        )
        seen = self._access.visible(rows, table, self._questions["principals"])
        labelled = combined(self._questions["evidence"])
        return [
            p for p, may in zip(self._places, seen, strict=True) if may and not _graded(labelled, p)
        ]


def _graded(evidence: pa.Array, place: tuple[int, str, str, int, int]) -> bool:
    """Whether the question's evidence of any grade overlaps the place: somebody has looked."""
    row, source, revision, start, end = place
    return any(
        (item["source_id"], item["revision_id"]) == (source, revision)
        and any(s["start_char"] < end and start < s["end_char"] for s in item["spans"] or ())
        for item in evidence[row].as_py()
    )


def _stands(text: str, form: str) -> tuple[int, int] | None:
    """Where in `text` the answer first stands as whole words."""
    reading = normalised(text)
    edges = (
        r"(?<![^\W_])" if form[0].isascii() else "",
        r"(?![^\W_])" if form[-1].isascii() else "",
    )
    for found in re.finditer(edges[0] + re.escape(form) + edges[1], reading.text, re.IGNORECASE):
        return reading.source(found.span())
    return None
