"""Whether what hits and chunks say of a place is what stands there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import flatten
from rayeval.golden.units import UNITS, Counted
from rayeval.stage import Shard, Stage
from rayeval.tables import TEXT

KEY = ["source_id", "revision_id"]
LOOKED_AT = 8
"""Wrong places of a batch that are read in other units, to say what they may be counted in."""
HALF = 0.5
"""The share of a text that must stand at its place: the rest is what was put around it."""


class Standing:
    """Scatters stated places (`question_id, source_id, revision_id, spans, text`) over documents.

    Answers `question_id, fault, unit`: `text` where another text stands there, `place` where there
    is no text to look for and the spans end beyond the document or hold nothing; null where all is
    well or no such document is here. unit: what the offsets may be counted in, of the first ones.
    A text stands at a place that it begins, and where all that stands there is most of it: what
    is handed on is shortened, or has a heading put before it. White space and signs don't count.
    """

    def load(self, shard: Shard) -> Stage:
        """What answers for the documents of one shard."""
        return _Reader(documents_of(shard))

    def gather(self, parts: Sequence[pa.Table]) -> pa.Table:
        """The one shard's answer that has the document."""
        answer = {name: pc.coalesce(*(part[name] for part in parts)) for name in ("fault", "unit")}
        return pa.table({"question_id": parts[0]["question_id"], **answer})


def documents_of(shard: Shard) -> pl.DataFrame:
    """`source_id, revision_id, format, whole, chars` of the shard's documents that have text."""
    parts = [table.select([*KEY, "text", "format"]) for table in shard.tables("documents")]
    empty = pl.DataFrame(schema=dict.fromkeys([*KEY, "text", "format"], pl.String))
    there = pl.DataFrame(pl.from_arrow(pa.concat_tables(parts))) if parts else empty
    return there.drop_nulls("text").select(
        *KEY, "format", whole="text", chars=pl.col("text").str.len_chars().cast(pl.Int64)
    )


def read_at(batch: pa.Table, documents: pl.DataFrame, between: str = "") -> pl.DataFrame:
    """The places of a batch whose documents are here: `row, text`, what documents have, `there`
    (the text of all its spans, joined) and `outside` (one of them is none of the text)."""
    rows, pairs = flatten(batch["spans"])
    asked = pl.DataFrame(pl.from_arrow(batch.select([*KEY, "text"]))).with_row_index("row")
    asked = asked.join(documents, on=KEY)
    ends = {name: pl.Series(pairs.field(name)) for name in ("start_char", "end_char")}
    spans = pl.DataFrame({"row": pl.Series(rows, dtype=asked.schema["row"]), **ends})
    stands = _stands(spans.join(asked.select("row", "whole", "chars"), on="row"), between)
    return asked.join(stands, on="row").sort("row")


class _Reader:
    def __init__(self, documents: pl.DataFrame) -> None:
        self._documents = documents

    def __call__(self, batch: pa.Table) -> pa.Table:
        wrong = _faults(read_at(batch, self._documents))
        n = batch.num_rows
        units = dict(_units(wrong.head(LOOKED_AT), batch))
        at = np.full(n, -1)
        at[wrong["row"].to_numpy()] = np.arange(wrong.height)
        found = {
            "fault": wrong["fault"].to_arrow(),
            "unit": pa.array([units.get(row) for row in wrong["row"]], TEXT),
        }
        of_row = pa.array(at, mask=at < 0)
        answer = {name: values.cast(TEXT).take(of_row) for name, values in found.items()}
        return pa.table({"question_id": batch["question_id"], **answer})


def _stands(spans: pl.DataFrame, between: str) -> pl.DataFrame:
    """`row, there` (the text of all its spans) and whether one of them is none of the text."""
    start, end = pl.col("start_char"), pl.col("end_char")
    held = (end - start).clip(0).cast(pl.UInt64)
    return (
        spans.with_columns(
            there=pl.col("whole").str.slice(start.clip(0), held),
            outside=(start < 0) | (end <= start) | (end > pl.col("chars")),
        )
        .group_by("row", maintain_order=True)
        .agg(pl.col("there").str.join(between), pl.col("outside").any())
    )


def _faults(asked: pl.DataFrame) -> pl.DataFrame:
    """The rows with their `fault`, those that have one."""
    there = pl.when(pl.col("format") == "html").then(_shown("there")).otherwise(pl.col("there"))
    read = asked.with_columns(said=_letters(pl.col("text")), stands=_letters(there))
    said, stands = pl.col("said"), pl.col("stands")
    long = stands.str.len_chars() >= HALF * said.str.len_chars()
    exact = pl.col("text") == pl.col("there")
    fits = exact | (
        (stands != "")
        & (stands.str.starts_with(said) | (said.str.contains(stands, literal=True) & long))
    )
    wordless = pl.col("text").is_null() | (said == "")
    fault = (
        pl.when(~wordless & ~fits)
        .then(pl.lit("text"))
        .when(wordless & pl.col("outside"))
        .then(pl.lit("place"))
    )
    return read.with_columns(fault=fault).drop_nulls("fault")


def _letters(text: pl.Expr) -> pl.Expr:
    return text.str.normalize("NFC").str.replace_all(r"[^\p{L}\p{N}]+", "")


def _shown(name: str) -> pl.Expr:
    """Markup taken out, the signs that entities stand for too."""
    return pl.col(name).str.replace_all(r"<[^>]*>|&#?\w+;", "")


def _units(wrong: pl.DataFrame, batch: pa.Table) -> Iterator[tuple[int, str]]:
    """(row, unit) of wrong places that are right in other units."""
    for row in wrong.iter_rows(named=True):
        spans = [tuple(span.values()) for span in batch["spans"][row["row"]].as_py()]
        unit = next((unit for unit in UNITS if _fit(row, unit, spans)), None)
        if unit is not None:
            yield row["row"], unit


def _fit(row: dict[str, Any], unit: Any, spans: Sequence[Any]) -> bool:
    meant = Counted(row["whole"], unit).code_points(spans)
    if not meant or row["text"] is None:
        return bool(meant)
    there = "".join(row["whole"][start:end] for start, end in meant)
    return "".join(there.split()) == "".join(row["text"].split())
