"""The same question twice in one golden set, and questions alike that contradict each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import polars as pl
import pyarrow as pa

from rayeval.columns import flatten
from rayeval.errors import Problem
from rayeval.golden.lint.duplicates import asked
from rayeval.golden.lint.notes import notes
from rayeval.golden.problems import shown
from rayeval.golden.similar import similar
from rayeval.words import percent

ALIKE = 0.9
"""Share of grams in both from which two questions are the same in other words; less alike ones are
often about two things of one kind."""
TOLD_APART = r"[\p{L}_./-]*\d[\p{L}\d_./-]*"
"""Numbers and codes: ERR-4012 is not ERR-4013, however alike the questions are."""


def form(texts: pl.Series) -> pl.Series:
    """What is the same question, whatever its white space, case, Unicode form and last sign."""
    plain = texts.str.normalize("NFC").str.to_lowercase().str.replace_all(r"\s+", " ")
    return plain.str.strip_chars().str.replace(r"[\s.?!。?!]+$", "")


def repeats(questions: pa.Table) -> list[Problem]:
    """A problem for each question that an earlier line asks too.

    The same are those with one text after one conversation, of the same askers at the same time,
    where the slices of one hold those of the other.
    questions: tables.QUESTIONS, or RESOLVED.
    """
    frame = _frame(questions)
    again = frame.filter(pl.len().over("form", "principals", "asked_at") > 1)
    found: dict[int, str] = {}
    for group in again.partition_by("form", "principals", "asked_at", maintain_order=True):
        for first, other in combinations(group.iter_rows(named=True), 2):
            if other["row"] not in found and _nested(first, other):
                found[other["row"]] = (
                    f"the same question as {first['question_id']!r} (line {first['line']}): "
                    f"{shown(first['question'])}{_and(first, other)}; keep one, or say in what "
                    "they differ"
                )
    return notes(questions, "repeated_question", sorted(found.items()), warning=False)


def contradictions(questions: pa.Table) -> list[Problem]:
    """A warning for each question that an earlier one of its split contradicts: asked nearly alike,
    by the same askers at the same time, one is answerable and one not, or they have other gold.

    Of a conversation what came before must be alike, and what is asked now: its turns are not.
    """
    frame, own = _frame(questions), pl.Series(questions["question"])
    now = _alike(own).select("row", "other")
    alike = _alike(asked(questions)).join(now, on=["row", "other"], how="semi")
    both = alike.join(frame, on="row").join(frame, left_on="other", right_on="row", suffix="_2")
    for name in ("split", "principals", "asked_at", "told_apart"):
        both = both.filter(pl.col(name).eq_missing(pl.col(f"{name}_2")))
    found: dict[int, str] = {}
    for row, said in _contradicting(both):
        found.setdefault(row, said)
    return notes(questions, "contradiction", sorted(found.items()))


def _alike(texts: pl.Series) -> pl.DataFrame:
    """`row, other, similarity` of the pairs that are ALIKE."""
    pairs = similar(texts)
    found = {"row": pairs.left, "other": pairs.right, "similarity": pairs.similarity}
    return pl.DataFrame(found).filter(pl.col("similarity") >= ALIKE)


def _contradicting(both: pl.DataFrame) -> Iterator[tuple[int, str]]:
    """(row, what is wrong with it) but for what `repeats` says already; the earlier ones first."""
    for row in both.sort("line", "line_2").iter_rows(named=True):
        one, two = ({name: row[name + end] for name in FIELDS} for end in ("", "_2"))
        if one["form"] == two["form"] and _nested(one, two):
            continue
        first, second = sorted((one, two), key=lambda side: side["line"])
        if why := _and(first, second):
            at = row["row"] if row["line"] == second["line"] else row["other"]
            yield (
                at,
                f"{percent(row['similarity'])} like {first['question_id']!r} (line "
                f"{first['line']}), {shown(first['question'])}{why}; say which is right",
            )


def _nested(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether the slices of one hold those of the other."""
    mine, yours = set(one["slices"]), set(other["slices"])
    return mine <= yours or yours <= mine


FIELDS = ("question_id", "line", "question", "answerable", "sources", "slices", "form")


def _and(first: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """How two questions contradict each other, or nothing."""
    can = [side["answerable"] for side in (other, first)]
    if None not in can and can[0] != can[1]:
        words = ["answerable" if one else "not" for one in can]
        return f"; this one is {words[0]}, that one {words[1]}"
    mine, yours = (set(side["sources"] or ()) for side in (other, first))
    if mine and yours and not mine & yours:
        return f"; its gold is in {', '.join(sorted(mine))}, there in {', '.join(sorted(yours))}"
    return ""


def _frame(questions: pa.Table, relevant: int = 2) -> pl.DataFrame:
    names = ["question_id", "line", "question", "answerable", "split", "asked_at"]
    frame = pl.DataFrame(pl.from_arrow(questions.select([*names, "slices", "principals"])))
    texts = asked(questions)
    rows, evidence = flatten(questions["evidence"])
    gold = pl.DataFrame(
        {
            "row": rows,
            "relevance": pl.Series(evidence.field("relevance")),
            "sources": pl.Series(evidence.field("source_id"), dtype=pl.String),
            "quote": pl.Series(evidence.field("quote"), dtype=pl.String),
        }
    ).filter(pl.col("relevance") >= relevant)
    named = gold.with_columns(pl.coalesce("sources", "quote").alias("sources")).drop_nulls(
        "sources"
    )
    sources = named.group_by("row").agg(pl.col("sources").unique())
    frame = frame.with_row_index("row").with_columns(
        pl.col("row").cast(pl.Int64),
        pl.col("principals").list.sort().list.join("\0").fill_null(""),
        form=form(texts),
        told_apart=texts.str.to_uppercase().str.extract_all(TOLD_APART).list.join(" "),
    )
    return frame.join(sources, on="row", how="left", maintain_order="left").sort("line")
