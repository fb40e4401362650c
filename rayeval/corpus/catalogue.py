"""Which revisions there are, and which one of each source is current."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from datetime import datetime

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.errors import Problem
from rayeval.tables import CATALOGUE, DOCUMENTS, conform, empty

_WORDS = ("source_id", "revision_id", "text", "format", "language", "title", "url")
_TIMES = ("valid_from", "valid_to", "deleted_at")
_KEY = ["source_id", "revision_id"]


def catalogue(
    tables: Iterable[pa.Table], as_of: datetime | None, *, path: str = "corpus"
) -> tuple[pa.Table, list[Problem]]:
    """Every document without its text, and whether it is current.

    tables: of schema DOCUMENTS, in any order and split; each is let go of before the next is read.
    as_of: the time of looking, with its zone; None is after every change.
    path: where the corpus lies, for a message.
    Returns (CATALOGUE by (source_id, revision_id), problems): the same document twice (the first
    by file and line stays), or no document at all.
    """
    parts = [_without_text(table) for table in tables]
    frame = pl.DataFrame(pa.concat_tables([*parts, _without_text(empty(DOCUMENTS))]))
    frame = frame.sort([*_KEY, "file", "line", "digest"])
    problems = _duplicates(frame)
    if frame["tombstone"].all():
        problems.append(nothing_at(path))
    frame = frame.unique(_KEY, keep="first", maintain_order=True)
    return conform(_marked(frame, as_of).to_arrow(), CATALOGUE), problems


def nothing_at(path: str) -> Problem:
    """That there is no document."""
    message = "there is no document; expected a folder with .md, .txt, .html, .pdf or "
    message += ".docx files, or JSON Lines or Parquet with source_id and text"
    return Problem(path, None, None, "empty_corpus", message)


def snapshot_hash(catalogue: pa.Table) -> str:
    """SHA-256 of what the corpus holds, as hex: the same for any order of its documents."""
    digests = sorted(catalogue["digest"].to_pylist())
    return hashlib.sha256(b"".join(digests)).hexdigest()


def _without_text(table: pa.Table) -> pa.Table:
    chars = pc.fill_null(pc.utf8_length(table["text"]), 0)
    narrow = table.append_column("chars", chars.cast(pa.int64()))
    narrow = narrow.append_column("tombstone", pc.is_null(table["text"]))
    return narrow.append_column("digest", _digests(table)).drop_columns(
        ["text", "text_start", "layout"]
    )


def _digests(table: pa.Table) -> pa.Array:
    """SHA-256 over each row, written as JSON: dates in microseconds."""
    columns = [table[name].to_pylist() for name in (*_WORDS, "access")]
    columns += [table[name].cast(pa.int64()).to_pylist() for name in _TIMES]
    rows = zip(*columns, strict=True)
    encoded = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    digests = [hashlib.sha256(row.encode()).digest() for row in encoded]
    return pa.array(digests, CATALOGUE.field("digest").type)


def _duplicates(frame: pl.DataFrame) -> list[Problem]:
    first = frame.with_columns(
        pl.col("file", "line").first().over(_KEY).name.prefix("first_"),
        again=pl.int_range(pl.len()).over(_KEY) > 0,
    )
    return [
        Problem(
            row["file"],
            row["line"],
            None,
            "duplicate_document",
            f"source {row['source_id']!r}, revision {row['revision_id']!r} is already at "
            f"{_place(row['first_file'], row['first_line'])}; keep one, or give each a revision_id",
        )
        for row in first.filter("again").iter_rows(named=True)
    ]


def _place(file: str, line: int | None) -> str:
    return file if line is None else f"{file}:{line}"


def _marked(frame: pl.DataFrame, as_of: datetime | None) -> pl.DataFrame:
    """With `current`: the newest revision of its source that has begun, unless it has ended.

    A revision begins at valid_from (null: it was always there), a tombstone at deleted_at; of two
    that begin at once the greater revision_id is the newer. Without a time nothing is to come,
    and valid_to is not looked at.
    """
    begins = pl.when("tombstone").then("deleted_at").otherwise("valid_from")
    if as_of is None:
        begun, ended = pl.lit(True), pl.col("deleted_at").is_not_null()
    else:
        now = pl.lit(as_of, dtype=frame.schema["deleted_at"])
        begun = begins.is_null() | (begins <= now)
        ended = pl.min_horizontal("deleted_at", "valid_to") <= now
    newest = (
        frame.filter(begun)
        .sort("source_id", begins, "revision_id", nulls_last=False)
        .unique("source_id", keep="last", maintain_order=True)
    )
    current = newest.filter(~ended.fill_null(False), ~pl.col("tombstone")).select(
        *_KEY, current=pl.lit(True)
    )
    joined = frame.join(current, on=_KEY, how="left", maintain_order="left")
    return joined.with_columns(pl.col("current").fill_null(False))
