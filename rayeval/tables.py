"""The Arrow schemas in which rooms meet (DESIGN §3).

Offsets are Unicode code points of the source's canonical text, half-open. All text is
`large_string`; times are UTC microseconds. A change to a schema raises `VERSION`, which is part of
every store key.
"""

from __future__ import annotations

import pyarrow as pa

VERSION = 2

TEXT = pa.large_string()
TEXTS = pa.list_(TEXT)
TIME = pa.timestamp("us", tz="UTC")

SPAN = pa.struct([("start_char", pa.int64()), ("end_char", pa.int64())])
SPANS = pa.list_(SPAN)
"""Sorted by start, disjoint, none empty."""

EVIDENCE = pa.struct(
    [
        ("evidence_id", TEXT),
        ("group_id", TEXT),
        ("aspects", TEXTS),
        ("source_id", TEXT),
        ("revision_id", TEXT),
        ("spans", SPANS),
        ("quote", TEXT),
        ("page", pa.int64()),
        ("element_id", TEXT),
        ("cell", TEXT),
        ("bbox", pa.list_(pa.float64())),
        ("relevance", pa.int8()),
    ]
)
"""Evidence as the golden set states it. `spans` null: not located by offsets."""

LOCATED = pa.struct(
    [
        *EVIDENCE,
        ("found", TEXT),  # located | missing_source | missing_revision
        ("parsed", pa.bool_()),  # its text survived parsing; null where not located
        ("visible", pa.bool_()),  # the asker may see its source
        ("gold", pa.bool_()),  # visible and relevance >= `relevant`
        ("whole", pa.bool_()),  # located by an element: only a chunk that holds all of it counts
        ("needs", SPANS),  # short gold: what the chunk must hold besides; else empty
    ]
)
"""Evidence as evaluated: source, revision and spans filled in (empty spans where not located)."""

TURN = pa.struct([("role", TEXT), ("content", TEXT)])


def _questions(evidence: pa.DataType) -> pa.Schema:
    return pa.schema(
        [
            ("question_id", TEXT),
            ("question", TEXT),
            ("history", pa.list_(TURN)),
            ("language", TEXT),
            ("answerable", pa.bool_()),
            ("reference_answer", TEXT),
            ("evidence", pa.list_(evidence)),
            ("required_aspects", TEXTS),
            ("slices", TEXTS),
            ("origin", TEXT),
            ("created_from", TEXT),
            ("validated", pa.bool_()),
            ("labels", TEXT),  # none | partial | complete
            ("split", TEXT),
            ("cluster", TEXT),
            ("asked_at", TIME),
            ("principals", TEXTS),
            ("label_version", TEXT),
            ("file", TEXT),
            ("line", pa.int64()),
        ]
    )


UNLABELLED = "none"
"""`labels` of a question whose evidence nobody has looked for yet: nothing is known of where it
fails. It is answerable where the golden set says so; else `answerable` is null: nobody knows."""

QUESTIONS = _questions(EVIDENCE)
"""As loaded. List columns are empty, never null; `file` and `line` say where the row stood."""

RESOLVED = _questions(LOCATED)
"""As evaluated. `answerable` is false, with the slice `forbidden`, where the asker may see no
gold; `cluster` is filled in (DESIGN §8); `slices` holds the automatic ones too."""

PIECE = pa.struct(
    [("start_char", pa.int64()), ("end_char", pa.int64()), ("text_chars", pa.int64())]
)
"""Source characters [start, end) that render as `text_chars` characters of an element's text."""

ELEMENT = pa.struct(
    [
        ("element_id", TEXT),  # e.g. heading-2, table-1, table-1/row-2, table-1/r2c3
        ("kind", TEXT),
        ("level", pa.int64()),
        ("page", pa.int64()),
        ("start_char", pa.int64()),
        ("end_char", pa.int64()),
        ("heading_path", TEXTS),
        ("text", TEXT),  # null: exactly the source's characters [start, end)
        ("pieces", pa.list_(PIECE)),  # null with `text`
    ]
)

DOCUMENTS = pa.schema(
    [
        ("source_id", TEXT),
        ("revision_id", TEXT),
        ("text", TEXT),
        ("format", TEXT),  # markdown | text | html | pdf | docx
        ("language", TEXT),
        ("title", TEXT),
        ("url", TEXT),
        ("valid_from", TIME),
        ("valid_to", TIME),
        ("deleted_at", TIME),
        ("access", TEXTS),  # empty: everyone
        ("text_start", pa.int64()),  # code points of BOM and front matter before the content
        ("layout", pa.list_(ELEMENT)),  # as an extractor found it with the text; else null
        ("file", TEXT),
        ("line", pa.int64()),
    ]
)
"""One revision of a source. `text` null: a tombstone, the source was deleted at `deleted_at`."""

CATALOGUE = pa.schema(
    [
        *(DOCUMENTS.field(n) for n in ("source_id", "revision_id", "format", "language")),
        *(DOCUMENTS.field(n) for n in ("valid_from", "valid_to", "deleted_at", "access")),
        ("chars", pa.int64()),
        ("digest", pa.binary(32)),  # sha256 over the document's row
        ("tombstone", pa.bool_()),
        ("current", pa.bool_()),  # the one revision of its source that is valid at `as_of`
    ]
)
"""Every document without its text, sorted by (source_id, revision_id)."""

PARSED = pa.schema([("source_id", TEXT), ("revision_id", TEXT), ("elements", pa.list_(ELEMENT))])
"""One row per document, elements in order of (start_char, -end_char)."""

CHUNKS = pa.schema(
    [
        ("chunk_id", TEXT),
        ("source_id", TEXT),
        ("revision_id", TEXT),
        ("spans", SPANS),
        ("text", TEXT),
        ("parent_id", TEXT),
        ("element_ids", TEXTS),
        ("pages", pa.list_(pa.int64())),
        ("tokens", pa.int64()),
        ("access", TEXTS),
    ]
)

CHUNK = pa.struct(list(CHUNKS))

HIT = pa.struct([("chunk_id", TEXT), ("score", pa.float64())])
HITS = pa.list_(HIT)
"""Ordered by (-score, chunk_id); no id twice, no NaN score."""

FOUND = pa.schema([("question_id", TEXT), ("hits", HITS), ("error", TEXT)])
"""What a search stage gives for a question. `hits` null: not run, or `error` says why."""

FOREIGN_HIT = pa.struct(
    [
        ("chunk_id", TEXT),
        ("source_id", TEXT),
        ("revision_id", TEXT),
        ("spans", SPANS),  # null: not located; with no text either, the whole document
        ("text", TEXT),
        ("score", pa.float64()),  # null: the list's order is all there is
    ]
)
"""A hit of somebody else's pipeline; every field may be null, though not all at once."""

FOREIGN = pa.schema(
    [
        ("question_id", TEXT),
        ("stage", TEXT),
        ("hits", pa.list_(FOREIGN_HIT)),  # null: not run, or `error` says why
        ("latency_ms", pa.float64()),
        ("error", TEXT),
    ]
)
"""A foreign trace: a row per (question_id, stage), a question's stages in the pipeline's order,
hits as the tool listed them."""

ANSWERS = pa.schema(
    [
        ("question_id", TEXT),
        ("repeat", pa.int64()),
        ("answer", TEXT),
        ("abstained", pa.bool_()),
        ("citations", TEXTS),
        ("context", TEXTS),
    ]
)
"""What a foreign pipeline answered, a row per (question_id, repeat)."""

PLACE = pa.struct(
    [
        ("chunk_id", TEXT),
        ("source_id", TEXT),
        ("revision_id", TEXT),
        ("spans", SPANS),
        ("tokens", pa.int64()),
    ]
)
STANDS = pa.list_(
    pa.struct([("source_id", TEXT), ("revision_id", TEXT), ("start_char", pa.int64()),
               ("end_char", pa.int64())])
)  # fmt: skip
"""Every place of a text that stands at several; empty where those can't be listed."""
PASSAGES = pa.list_(PLACE)
"""Where a question's hits lie, each chunk once, by chunk_id."""


def conform(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """`table` with exactly the columns and types of `schema`; an absent column is null."""
    columns = [
        table[field.name].cast(field.type)
        if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


def empty(schema: pa.Schema) -> pa.Table:
    """A table of `schema` without rows."""
    return schema.empty_table()
