"""What questions may share: the values that tie them together in a split."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pyarrow as pa

from rayeval.columns import flatten
from rayeval.errors import ConfigError
from rayeval.golden.lint.duplicates import asked
from rayeval.golden.similar import plain, similar

FIELDS = ("language", "origin", "created_from", "cluster", "label_version", "question_id", "labels")
"""Fields of the contract that are one value."""
CODE = r"\b(?:\p{L}+[-_./]?)+\d[\p{L}\d._/-]*\d*|\b\d+[-_]?\p{Lu}[\p{L}\d-]*"
"""Letters and digits in one word, as PN-2299: what people call a thing by."""
VALUES = {"row": pl.Int64, "value": pl.String}


def values(questions: pa.Table, by: str) -> pl.DataFrame:
    """(`row`, `value`) of what each question has of `by`; some may have nothing.

    by: a field of the contract with one value; else what follows `BY:` in slices, where any has
        it; else `source` (of its gold, or where there is none of any evidence), `tenant`
        (`tenant:…` among the principals, or all of these), `entity` (codes such as PN-2299 in the
        question), `template` (the question but for numbers and codes, and what is nearly so).
    questions: tables.QUESTIONS, or RESOLVED where evidence names no source.
    Raises ConfigError if no question has anything of it.
    """
    ways: dict[str, Callable[[pa.Table], pl.DataFrame]] = {
        "source": source_values, "tenant": _tenants, "entity": _entities, "template": _templates,
    }  # fmt: skip
    if by in FIELDS:
        texts = pl.Series(questions[by].to_pylist(), dtype=pl.String)
        found = _rows(questions).with_columns(value=texts)
    else:
        found = _named(questions, "slices", by)
        found = ways[by](questions) if found.is_empty() and by in ways else found
    found = found.select(pl.col(n).cast(kind) for n, kind in VALUES.items()).drop_nulls().unique()
    if found.is_empty():
        raise ConfigError(_nothing(by))
    return found.sort("row", "value")


def _nothing(by: str) -> str:
    known = ", ".join(("source", "time", "tenant", "template", "entity", *FIELDS))
    return (
        f"--by {by}: no question has one; expected {known}, or a name that slices begin with, as "
        f"in `slices: ['{by}:billing']`"
    )


def _rows(questions: pa.Table) -> pl.DataFrame:
    return pl.DataFrame({"row": pl.int_range(questions.num_rows, eager=True)})


def source_values(questions: pa.Table, relevant: int = 2) -> pl.DataFrame:
    """Sources of gold; of a question without gold, those of what is labelled for it."""
    rows, evidence = flatten(questions["evidence"])
    fields = {name: evidence.field(name) for name in ("source_id", "relevance")}
    items = pl.DataFrame(pl.from_arrow(pa.table(fields))).with_columns(row=rows)
    gold = pl.col("relevance") >= relevant
    items = items.filter(gold | ~gold.any().over("row"))
    return items.select("row", value="source_id").drop_nulls().unique()


def _named(questions: pa.Table, column: str, prefix: str) -> pl.DataFrame:
    """The names in a list column that begin with `prefix:`."""
    rows, names = flatten(questions[column])
    frame = pl.DataFrame({"row": rows, "value": pl.Series(names, dtype=pl.String)})
    return frame.filter(pl.col("value").str.starts_with(f"{prefix}:"))


def _tenants(questions: pa.Table) -> pl.DataFrame:
    named = _named(questions, "principals", "tenant")
    if not named.is_empty():
        return named
    rows, names = flatten(questions["principals"])
    frame = pl.DataFrame({"row": rows, "name": pl.Series(names, dtype=pl.String)})
    every = pl.col("name").unique().sort().str.join("\0")
    return frame.group_by("row").agg(value=every)


def _entities(questions: pa.Table) -> pl.DataFrame:
    texts = _rows(questions).with_columns(value=asked(questions).str.to_uppercase())
    return texts.with_columns(pl.col("value").str.extract_all(CODE)).explode("value")


def _templates(questions: pa.Table) -> pl.DataFrame:
    """A question's families: its mask, and the masks that this is nearly the same as."""
    masks = plain(asked(questions).str.replace_all(CODE, "0").str.replace_all(r"\d+", "0"))
    kinds = masks.unique().sort()
    pairs = similar(kinds)
    tied = pl.DataFrame({"value": kinds.gather(pairs.left), "mask": kinds.gather(pairs.right)})
    ties = pl.concat([tied, pl.DataFrame({"value": kinds, "mask": kinds})])
    return _rows(questions).with_columns(mask=masks).join(ties, on="mask").select("row", "value")
