"""Every place that hits or chunks state, so that it can be held against the documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import combined, flatten
from rayeval.interop.own.chunks import tables
from rayeval.interop.own.trace import TraceFile
from rayeval.stated import KEY, field, names
from rayeval.tables import SPANS, TEXT, conform

CLAIMS = pa.schema(
    [
        ("question_id", TEXT),  # its name (rayeval.stated)
        ("source_id", TEXT),
        ("revision_id", TEXT),  # the current one where none is stated
        ("spans", SPANS),
        ("text", TEXT),
        ("lacks", TEXT),  # `source` or `revision`: what the corpus lacks; else null
    ]
)
FIELDS = (*KEY, "spans", "text")
STATED = pa.schema([CLAIMS.field(name) for name in FIELDS])
ROWS = 1024
FEW = 1 << 16
"""Places are told apart whenever so many have come, or as many as there were."""


def claims(
    paths: Sequence[str], chunks: Sequence[str], catalogue: pa.Table, part: int = 0, parts: int = 1
) -> Iterator[pa.Table]:
    """Tables of CLAIMS, at least one: every distinct (source, revision, spans, text).

    paths: of the trace. chunks: of tables of chunks; without one a hit's id may name its document.
    Of sources without spans only those that the corpus lacks are there. part: the places whose
    hash falls there, of `parts`.
    """
    hits = (flatten(table["hits"])[1] for path in paths for table in TraceFile(path).tables())
    every = (combined(table.to_struct_array()) for table in tables(chunks))
    found = _distinct(
        _frame(items, part, parts, by_id=not chunks)
        for items in chain(hits, every)
        if pa.types.is_struct(items.type)
    )
    named = found.with_columns(question_id=pl.Series(names(_items(found)), dtype=pl.String))
    stated = _beside(named, pl.DataFrame(pl.from_arrow(catalogue.select([*KEY, "current"]))))
    for start in range(0, max(1, stated.height), ROWS):
        yield conform(stated.slice(start, ROWS).to_arrow(), CLAIMS)


def _frame(items: pa.StructArray, part: int, parts: int, *, by_id: bool) -> pl.DataFrame:
    """`source_id, revision_id, spans, text` and a hash of them, of items that name a source."""
    spans, text = field(items, "spans", SPANS), field(items, "text")
    source = field(items, "source_id")
    if by_id:
        bare = pc.and_(text.is_null(), spans.is_null())
        source = pc.coalesce(source, pc.if_else(bare, field(items, "chunk_id"), None))
    named = names(items)
    columns = {"source_id": source, "revision_id": field(items, "revision_id"), "spans": spans}
    columns |= {"text": pc.if_else(named.is_null(), None, text), "name": named}
    frame = pl.DataFrame(pl.from_arrow(pa.table(columns))).drop_nulls("source_id")
    hashed = pl.struct(*KEY, "name").hash().alias("hash")
    frame = frame.select(*FIELDS, hashed)
    return frame.filter(pl.col("hash") % parts == part).unique("hash", maintain_order=True)


def _distinct(frames: Iterator[pl.DataFrame]) -> pl.DataFrame:
    empty = pl.DataFrame(pl.from_arrow(CLAIMS.empty_table())).select(FIELDS)
    seen = empty.with_columns(hash=pl.lit(None, pl.UInt64))
    waiting: list[pl.DataFrame] = []
    for frame in frames:
        waiting.append(frame)
        if sum(one.height for one in waiting) > max(FEW, seen.height):
            seen, waiting = pl.concat([seen, *waiting]).unique("hash", maintain_order=True), []
    return pl.concat([seen, *waiting]).unique("hash", maintain_order=True).drop("hash")


def _items(frame: pl.DataFrame) -> pa.StructArray:
    return combined(conform(frame.to_arrow(), STATED).to_struct_array())


def _beside(found: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """With the current revision where none is stated, and what the corpus lacks."""
    current = known.filter("current").select("source_id", now="revision_id")
    found = found.join(current, on="source_id", how="left", maintain_order="left")
    there = pl.struct(KEY).is_in(known.select(pl.struct(KEY)).to_series().implode())
    lacks = (
        pl.when(~pl.col("source_id").is_in(known["source_id"].implode()))
        .then(pl.lit("source"))
        .when(pl.col("revision_id").is_not_null() & ~there)
        .then(pl.lit("revision"))
    )
    found = found.with_columns(lacks=lacks)
    found = found.with_columns(revision_id=pl.coalesce("revision_id", "now"))
    return found.filter((pl.col("spans").list.len() > 0) | pl.col("lacks").is_not_null())
