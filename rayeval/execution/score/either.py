"""Ids of hits that may be of chunks or of documents: looked up before they count as either.

A TREC run, and a CSV of `doc_id`, has one kind of id and no word for what it names.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import combined, flatten, lists
from rayeval.errors import DataError, Problem
from rayeval.execution.score.said import listed
from rayeval.execution.score.spool import Spooled
from rayeval.execution.step import digest
from rayeval.execution.store import Output
from rayeval.interop.own.chunks import tables as chunk_tables
from rayeval.interop.own.trace import TraceFile
from rayeval.stated import field
from rayeval.tables import FOREIGN, FOREIGN_HIT, SPANS, VERSION, conform
from rayeval.words import plural, verb

EITHER = 1
"""Raised when telling them apart changes what is stored."""


def told_apart(
    spooled: Spooled, chunks: Sequence[str], documents: pl.Series, file: str, root: str
) -> tuple[Spooled, list[str]]:
    """The trace with the ids that are chunks' as such, and what there is to say.

    chunks: the files of `--chunks`. documents: sources of the golden set and of the corpus.
    Raises DataError where no id is known.
    """
    if not spooled.either:
        return spooled, []
    parts = [table.select(["chunk_id", "source_id"]) for table in chunk_tables(chunks)]
    known = {
        name: pl.concat([pl.Series([], dtype=pl.String), *(pl.Series(t[name]) for t in parts)])
        for name in ("chunk_id", "source_id")
    }
    ids = _ids(spooled.paths)
    is_chunk = ids.is_in(known["chunk_id"].drop_nulls().implode())
    every = pl.concat([documents, known["source_id"]]).drop_nulls().unique()
    lost = ids.filter(~is_chunk & ~ids.is_in(every.implode()))
    if len(ids) and len(lost) == len(ids):
        raise DataError([_unknown(ids, known["chunk_id"], every, file)])
    said = list(_said(ids, int(is_chunk.sum()), lost)) if chunks else []
    if not is_chunk.any():
        return spooled, said
    return _as_chunks(spooled, ids.filter(is_chunk), root), said


def _ids(paths: Sequence[str]) -> pl.Series:
    """The distinct ids, sorted."""
    found = pl.Series([], dtype=pl.String)
    for path in paths:
        for table in TraceFile(path).tables():
            items = flatten(table["hits"])[1]
            own = pl.Series(_bare(items)).cast(pl.String).drop_nulls().unique()
            found = pl.concat([found, own]).unique()
    return found.sort()


def _bare(items: pa.StructArray) -> pa.Array:
    """The source of hits that say nothing else; null of others."""
    alone = [field(items, name).is_null() for name in ("chunk_id", "text", "revision_id")]
    alone.append(field(items, "spans", SPANS).is_null())
    only = alone[0]
    for one in alone[1:]:
        only = pc.and_(only, one)
    return pc.if_else(only, field(items, "source_id"), None)


def _said(ids: pl.Series, chunks: int, lost: pl.Series) -> Iterator[str]:
    others = len(ids) - chunks - len(lost)
    if chunks and others:
        yield (
            f"of the {len(ids):,} ids of hits {chunks:,} {verb(chunks, 'is a chunk', 'are chunks')}"
            f" of --chunks, and {others:,} {verb(others, 'is a document', 'are documents')}"
        )
    if len(lost):
        finds = verb(len(lost), "finds", "find")
        yield (
            f"{len(lost):,} of {plural(len(ids), 'id')} of hits ({listed(lost)}) "
            f"{verb(len(lost), 'is', 'are')} neither of a chunk in --chunks nor of a document, and "
            f"{finds} no gold"
        )


def _unknown(ids: pl.Series, chunks: pl.Series, documents: pl.Series, file: str) -> Problem:
    given = f"; the chunks are {listed(chunks.sort())}" if len(chunks) else ""
    message = (
        f"none of the {len(ids):,} ids of hits ({listed(ids)}) is known: the documents are "
        f"{listed(documents.sort())}{given}. Say which chunks they are with --chunks, or which "
        "documents there are with --corpus"
    )
    return Problem(file, None, None, "unknown_ids", message)


def _as_chunks(spooled: Spooled, chunks: pl.Series, root: str) -> Spooled:
    """The trace in which these ids are chunks', written once."""
    of = {"either": EITHER, "trace": spooled.sha256, "paths": [*spooled.paths], "tables": VERSION}
    output = Output(root, digest({**of, "chunks": digest(chunks.to_list())}))
    if output.manifest() is None:
        start, among = time.time(), chunks.to_arrow()
        commits = [
            output.commit(
                n, (_named(t, among) for t in TraceFile(path).tables()), started=start
            )
            for n, path in enumerate(spooled.paths)
        ]  # fmt: skip
        output.finish(commits)
    return replace(spooled, paths=tuple(output.paths()))


def _named(table: pa.Table, chunks: pa.Array) -> pa.Table:
    rows, items = flatten(table["hits"])
    bare = _bare(items)
    among = chunks.cast(bare.type)
    ours = pc.fill_null(pc.is_in(bare, value_set=among), False)
    every = {f.name: field(items, f.name, f.type) for f in FOREIGN_HIT}
    every["chunk_id"] = pc.if_else(ours, bare, every["chunk_id"])
    every["source_id"] = pc.if_else(ours, None, every["source_id"])
    struct = pa.StructArray.from_arrays(list(every.values()), fields=list(FOREIGN_HIT))
    null = combined(table["hits"]).is_null().to_numpy(zero_copy_only=False)
    at = table.schema.get_field_index("hits")
    named = lists(rows, struct, table.num_rows, null=null)
    return conform(table.set_column(at, "hits", named), FOREIGN)
