"""The texts in a trace that don't say where they stand, as evidence to be located."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import flatten, lists
from rayeval.interop.own.trace import TraceFile
from rayeval.tables import EVIDENCE, QUESTIONS, TEXT, conform

NAMED = ("source_id", "revision_id", "text")
ROWS = 1024


def texts(paths: Sequence[str]) -> Iterator[pa.Table]:
    """Tables of schema QUESTIONS, at least one, with a row per distinct (source, revision, text).

    `question_id` is the three joined by NUL; the text is the quote of the one piece of evidence.
    """
    seen = pl.DataFrame(schema=dict.fromkeys(NAMED, pl.String))
    for path in paths:
        for table in TraceFile(path).tables():
            seen = pl.concat([seen, _texts(table)]).unique(maintain_order=True)
    seen = seen.sort(*NAMED)
    for start in range(0, max(1, seen.height), ROWS):
        yield _asked(seen.slice(start, ROWS))


def _texts(table: pa.Table) -> pl.DataFrame:
    _, items = flatten(table["hits"])
    if not pa.types.is_struct(items.type):
        items = pa.StructArray.from_arrays([items], ["text"])
    fields = dict(zip(items.type.names, items.flatten(), strict=True))
    n = len(items)
    column = {name: fields.get(name, pa.nulls(n, TEXT)) for name in NAMED}
    frame = pl.DataFrame({name: pl.Series(column[name], dtype=pl.String) for name in NAMED})
    if "spans" in fields:
        frame = frame.filter(pl.Series(fields["spans"].is_null()))
    return frame.drop_nulls("text").unique(maintain_order=True)


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
