"""Hits that name chunks which no chunk table has: how many in all, besides where they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl
import pyarrow as pa

from rayeval.columns import combined, flatten
from rayeval.errors import Problem
from rayeval.execution.score.said import listed
from rayeval.interop.own.chunks import tables as chunk_tables
from rayeval.interop.own.trace import TraceFile
from rayeval.stated import field
from rayeval.tables import SPANS
from rayeval.words import plural, verb

KIND = "unknown_chunk"


def with_sum(
    problems: Sequence[Problem], paths: Sequence[str], chunks: Sequence[str], file: str
) -> list[Problem]:
    """The problems; before those of unknown chunks one that says how many there are.

    paths: of the trace. chunks: the files of `--chunks`. file: the trace as the user named it.
    """
    asked = [p.question_id for p in problems if p.kind == KIND]
    if not asked:
        return list(problems)
    known = [pl.Series(table["chunk_id"]) for table in chunk_tables(chunks)]
    there = pl.concat([pl.Series([], dtype=pl.String), *known]).unique()
    named = pl.concat(_named(paths, pl.Series(asked, dtype=pl.String)))
    lost = named.filter(~named.is_in(there.implode()))
    ids = lost.unique().sort()
    names = verb(len(lost), "names", "name")
    message = (
        f"{len(lost):,} of {plural(len(named), 'hit')} {names} {plural(len(ids), 'chunk')} "
        f"({listed(ids)}) that the chunk table lacks; it has {plural(len(there), 'chunk')} "
        f"({listed(there.sort())}). Give the chunks that this trace was made with, all of them, or "
        "let hits name their source"
    )
    return [Problem(file, None, None, KIND, message), *problems]


def _named(paths: Sequence[str], asked: pl.Series) -> Iterator[pl.Series]:
    """The chunk ids of hits of some questions that say nothing else."""
    yield pl.Series([], dtype=pl.String)
    for path in paths:
        for table in TraceFile(path).tables():
            rows, items = flatten(table["hits"])
            if not pa.types.is_struct(items.type):
                continue
            ids = pl.Series(combined(table["question_id"]).take(pa.array(rows)), dtype=pl.String)
            bare = ids.is_in(asked.implode())
            for name, kind in (("source_id", None), ("text", None), ("spans", SPANS)):
                own = field(items, name) if kind is None else field(items, name, kind)
                bare &= pl.Series(own.is_null())
            own = pl.Series(field(items, "chunk_id"), dtype=pl.String)
            yield own.filter(bare).drop_nulls()
