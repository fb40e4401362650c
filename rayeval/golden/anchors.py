"""What was noted of gold in the text it was labelled on, to know it again (DESIGN §4).

The notes of `golden.jsonl` are in `golden.anchors.jsonl` beside it, so that the golden set itself
stays what people write: per evidence and span the source's hash, offsets, quote and context.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Any

import polars as pl
import pyarrow as pa

from rayeval import files
from rayeval.columns import flatten
from rayeval.errors import DataError, Problem
from rayeval.golden.anchor import CONTEXT

KEY = ["source_id", "revision_id"]
EVIDENCE = ["question_id", "evidence_id"]
STATED = [*KEY, "spans", "quote", "element_id", "cell", "page"]
"""What evidence says of its place; when it is edited, what was noted no longer holds."""
SCHEMA: dict[str, type[pl.DataType]] = {
    **dict.fromkeys([*EVIDENCE, *KEY], pl.String),
    "span": pl.Int64,
    "start_char": pl.Int64,
    "end_char": pl.Int64,
    **dict.fromkeys(["quote", "before", "after", "source_sha256", "stated"], pl.String),
}


def anchors_path(golden: str) -> str:
    """Where the notes of a golden set lie."""
    return f"{golden.removesuffix(PurePosixPath(golden).suffix)}.anchors.jsonl"


def read_anchors(path: str) -> pl.DataFrame:
    """The notes at `path`; none where there is no file.

    Raises DataError if it holds something else.
    """
    if not files.exists(path):
        return pl.DataFrame(schema=SCHEMA)
    try:
        return pl.read_ndjson(io.BytesIO(files.read_bytes(path)), schema=SCHEMA)
    except pl.exceptions.PolarsError as error:
        message = f"no notes of `golden anchor`: {error}; delete the file, then anchor --write"
        raise DataError([Problem(path, None, None, "unreadable_file", message)]) from error


def anchors_bytes(notes: pl.DataFrame) -> bytes:
    """The notes as they are stored: a line per span, sorted."""
    rows = notes.select(list(SCHEMA)).sort(*EVIDENCE, "span")
    return "".join(
        json.dumps(row, ensure_ascii=False) + "\n" for row in rows.iter_rows(named=True)
    ).encode()


def stated(questions: pa.Table) -> pl.DataFrame:
    """EVIDENCE, STATED and a digest of it, `stated`, of every evidence of tables.QUESTIONS."""
    rows, evidence = flatten(questions["evidence"])
    frame = pl.DataFrame(pl.from_arrow(pa.table({n: evidence.field(n) for n in STATED})))
    digests = [
        hashlib.sha256(json.dumps(_without(row), sort_keys=True).encode()).hexdigest()[:32]
        for row in frame.iter_rows(named=True)
    ]
    ids = questions["question_id"].take(pa.array(rows))
    who = {"question_id": pl.Series(ids), "evidence_id": pl.Series(evidence.field("evidence_id"))}
    return pl.DataFrame(who).hstack(frame).with_columns(stated=pl.Series(digests, dtype=pl.String))


def _without(row: dict[str, Any]) -> dict[str, Any]:
    """Without a page where there is none, so that notes from before pages counted hold."""
    return {name: value for name, value in row.items() if name != "page" or value is not None}


def note(questions: pa.Table, resolved: pa.Table, documents: Iterable[pa.Table]) -> pl.DataFrame:
    """What there is to note of evidence of a source that it names.

    questions: tables.QUESTIONS. resolved: the same as evaluated. documents: of DOCUMENTS.
    Returns SCHEMA's columns, a row per span; of a whole document its hash alone.
    """
    rows, evidence = flatten(resolved["evidence"])
    names = ["evidence_id", *KEY, "spans", "found"]
    items = pl.DataFrame(pl.from_arrow(pa.table({n: evidence.field(n) for n in names})))
    items = items.with_columns(
        question_id=pl.Series(resolved["question_id"].take(pa.array(rows)), dtype=pl.String)
    )
    bare = pl.all_horizontal(pl.col("spans", "quote", "element_id").is_null())
    whole, leaf = bare & pl.col("page").is_null(), bare & pl.col("page").is_not_null()
    said = stated(questions).filter(pl.col("source_id").is_not_null())
    items = items.filter(pl.col("found") == "located").join(
        said.select(*EVIDENCE, "stated", whole=whole, leaf=leaf), on=EVIDENCE
    )
    nowhere = pl.lit([{"start_char": None, "end_char": None}], items.schema["spans"])
    items = items.with_columns(spans=pl.when("whole").then(nowhere).otherwise("spans"))
    numbered = items.with_columns(span=pl.int_ranges(pl.col("spans").list.len()))
    places = numbered.explode("spans", "span").unnest("spans")
    parts = [_noted(places, table) for table in documents]
    return pl.concat([pl.DataFrame(schema=SCHEMA), *parts]).sort(*EVIDENCE, "span")


def _noted(places: pl.DataFrame, documents: pa.Table) -> pl.DataFrame:
    """The notes of what stands in these documents."""
    texts = pl.DataFrame(pl.from_arrow(documents.select([*KEY, "text", "format"])))
    texts = texts.drop_nulls("text").join(places, on=KEY, how="semi")
    hashes = [sha256(text) for text in texts["text"]]
    texts = texts.with_columns(source_sha256=pl.Series(hashes, dtype=pl.String))
    here = places.join(texts, on=KEY)
    here = here.with_columns(
        pl.when(~_pageless()).then(name).alias(name) for name in ("start_char", "end_char")
    )
    text, start, end = pl.col("text").str, pl.col("start_char"), pl.col("end_char")
    first = pl.max_horizontal(start - CONTEXT, pl.lit(0))
    noted = here.with_columns(
        quote=text.slice(start, end - start),
        before=text.slice(first, start - first),
        after=text.slice(end, CONTEXT),
    )
    return noted.select(pl.col(name).cast(kind) for name, kind in SCHEMA.items())


def _pageless() -> pl.Expr:
    """Whether a page is all that is said of the place, in a document that has none: it is all of
    the document then."""
    own = pl.col("text").str.slice(pl.col("start_char"), pl.col("end_char") - pl.col("start_char"))
    all_of_it = own.str.strip_chars() == pl.col("text").str.strip_chars()
    pages = pl.col("format").is_in(["pdf", "docx"])
    return pl.col("leaf") & (~pages | ((pl.col("format") == "docx") & all_of_it))


def sha256(text: str) -> str:
    """A source's canonical text by its hash."""
    return hashlib.sha256(text.encode()).hexdigest()
