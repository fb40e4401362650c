"""Gold text that stands word for word in the question, which any search by words then finds."""

from __future__ import annotations

from itertools import accumulate
from unicodedata import east_asian_width

import polars as pl
import pyarrow as pa

from rayeval.columns import flatten
from rayeval.errors import Problem
from rayeval.golden.anchor import normal
from rayeval.golden.lint.notes import notes
from rayeval.golden.problems import shown

COPIED, WHOLE = 40, 12
"""Columns of a terminal, in which a Korean or Chinese character takes two: a run so long in both
is a copy, and so is the whole gold text if it is as long as WHOLE."""
KEY = ["source_id", "revision_id"]


class Leaks:
    """Looks at gold as the documents pass by.

    questions: RESOLVED, or QUESTIONS where there is no corpus.
    """

    def __init__(self, questions: pa.Table, *, relevant: int = 2) -> None:
        self._questions = questions
        rows, evidence = flatten(questions["evidence"])
        names = ["evidence_id", *KEY, "spans", "quote", "relevance"]
        items = pl.DataFrame(pl.from_arrow(pa.table({n: evidence.field(n) for n in names})))
        items = items.with_columns(row=rows).filter(pl.col("relevance") >= relevant)
        self._spans = items.explode("spans").unnest("spans").drop_nulls("start_char")
        quoted = items.filter(pl.col("quote").is_not_null())
        self._texts = [quoted.select("row", "evidence_id", text="quote")]

    def see(self, documents: pa.Table) -> None:
        """Takes the gold text of these DOCUMENTS."""
        texts = pl.DataFrame(pl.from_arrow(documents.select([*KEY, "text"])))
        here = self._spans.join(texts, on=KEY).sort("row", "evidence_id", "start_char")
        length = pl.col("end_char") - pl.col("start_char")
        part = pl.col("text").str.slice("start_char", length)
        self._texts.append(here.select("row", "evidence_id", text=part))

    def problems(self) -> list[Problem]:
        """A warning for each question that copies gold."""
        asked = self._questions["question"].to_pylist()
        found: dict[int, str] = {}
        for row, who, text in pl.concat(self._texts).sort("row", maintain_order=True).iter_rows():
            run = None if row in found else copied(asked[row], text)
            if run is not None:
                found[row] = (
                    f"the question holds {shown(run)}, word for word as evidence {who!r} has it; "
                    "ask it in a user's words"
                )
        return notes(self._questions, "gold_in_question", found.items())


def copied(question: str, gold: str) -> str | None:
    """The longest beginning of what the question copies from the gold, if it copies any.

    White space, case and Unicode form aside.
    """
    question, gold = normal(question).lower(), normal(gold).lower()
    if gold in question and _width(gold) >= WHOLE:
        return gold
    reached = [0, *accumulate(map(_columns, question))]
    end = 0
    for start in range(len(question)):
        while end < len(question) and reached[end] - reached[start] < COPIED:
            end += 1
        if reached[end] - reached[start] < COPIED:
            return None
        if question[start:end] in gold:
            while end < len(question) and question[start : end + 1] in gold:
                end += 1
            return question[start:end]
    return None


def _width(text: str) -> int:
    return sum(map(_columns, text))


def _columns(letter: str) -> int:
    return 2 if east_asian_width(letter) in "WF" else 1
