"""Texts of a trace or its chunks that don't say where they stand, as evidence to be located."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import flatten, lists
from rayeval.interop.own.chunks import tables
from rayeval.interop.own.trace import TraceFile
from rayeval.stated import trusted
from rayeval.tables import EVIDENCE, QUESTIONS, TEXT, conform

NAMED = ("source_id", "revision_id", "text")
ROWS = 1024


def texts(
    paths: Sequence[str], chunks: Sequence[str] = (), misplaced: pa.Array | None = None
) -> Iterator[pa.Table]:
    """Tables of schema QUESTIONS, at least one, with a row per distinct (source, revision, text).

    paths: of the trace. chunks: of tables of chunks. misplaced: names of those that don't stand
    where they say (rayeval.stated).
    `question_id` is the three joined by NUL; the text is the quote of the one piece of evidence.
    """
    seen = pl.DataFrame(schema=dict.fromkeys(NAMED, pl.String))
    hits = (flatten(t["hits"])[1] for path in paths for t in TraceFile(path).tables())
    every = (table.to_struct_array() for table in tables(chunks))
    wrong = pa.array([], TEXT) if misplaced is None else misplaced
    for items in chain(hits, (part for array in every for part in array.chunks)):
        believed = trusted(items, wrong) if pa.types.is_struct(items.type) else items
        seen = pl.concat([seen, _texts(believed)]).unique(maintain_order=True)
    seen = seen.sort(*NAMED)
    for start in range(0, max(1, seen.height), ROWS):
        yield _asked(seen.slice(start, ROWS))


def _texts(items: pa.Array) -> pl.DataFrame:
    if not pa.types.is_struct(items.type):
        items = pa.StructArray.from_arrays([items], ["text"])
    fields = dict(zip(items.type.names, items.flatten(), strict=True))
    n = len(items)
    column = {name: fields.get(name, pa.nulls(n, TEXT)) for name in NAMED}
    frame = pl.DataFrame({name: pl.Series(column[name], dtype=pl.String) for name in NAMED})
    if "spans" in fields:
        lengths = pc.fill_null(pc.list_value_length(fields["spans"]), 0)
        frame = frame.filter(pl.Series(pc.equal(lengths, 0)))
    return frame.drop_nulls("text").filter(pl.col("text") != "").unique(maintain_order=True)


def _asked(frame: pl.DataFrame) -> pa.Table:
    n = frame.height
    column = {name: frame[name].to_arrow().cast(TEXT) for name in NAMED}
    parts = [pc.fill_null(column[name], "") for name in NAMED]
    fields = {field.name: pa.nulls(n, field.type) for field in EVIDENCE}
    fields |= {name: column[name] for name in NAMED[:2]} | {"quote": column["text"]}
    evidence = pa.StructArray.from_arrays(list(fields.values()), fields=list(EVIDENCE))
    table = pa.table(
        {
            "question_id": pc.binary_join_element_wise(*parts, pa.scalar("\0", TEXT)),
            "evidence": lists(pl.int_range(n, eager=True).to_numpy(), evidence, n),
        }
    )
    return conform(table, QUESTIONS)
