"""Where somebody else's hits lie, as far as they say so, a chunk table or a corpus knows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Ints, flatten, lists
from rayeval.metrics.evidence import Evidence
from rayeval.metrics.foreign.chunks import Chunks
from rayeval.metrics.foreign.hits import Hits, whole
from rayeval.metrics.spans import Bools
from rayeval.stated import names, trusted
from rayeval.tables import PLACE, SPANS, STANDS, TEXT

LOOKED_UP = ("revision_id", "spans", "tokens", "stands")


@dataclass(frozen=True)
class Known:
    """What is known besides the trace."""

    chunks: Chunks | None = None
    texts: Chunks | None = None
    """Texts that were found in the documents, under the name that `text_name` gives them."""
    documents: pl.DataFrame | None = None
    """`source_id, revision_id, chars` of every document that is current."""
    count: Callable[[pa.Array], Ints] | None = None
    """The tokens of texts; None: nobody asks for them."""
    misplaced: pa.Array | None = None
    """Names of what doesn't stand where it says (rayeval.stated); None: nobody looked."""
    said: Chunks | None = None
    """The tokens of what stands at places without a text, under their names (rayeval.stated)."""

    def trusted(self, hits: Hits) -> Hits:
        """Without the spans at which the documents have another text, or none."""
        if self.misplaced is None or not len(self.misplaced) or not hits.has("spans"):
            return hits
        return replace(hits, items=trusted(hits.items, self.misplaced))

    def read(self, hits: Hits, wanted: Bools) -> Hits:
        """With the text, and the source, of the chunk that a hit names; its own come first.

        wanted: (n_questions,), whose hits. Of the others only those whose chunk is text that says
        not where it stands, which is no whole document: a chunk table has far more text than
        anybody reads.
        """
        if self.chunks is None or self.chunks.column("text").null_count == len(self.chunks.ids):
            return hits
        rows = self.chunks.find(hits.field("chunk_id"))
        texts, spans = self.chunks.column("text"), self.chunks.column("spans")
        unplaced = np.asarray(pc.and_(texts.is_valid(), _missing(spans)))
        bare = whole(hits) & (rows >= 0)
        chosen = bare & (wanted[hits.row] | unplaced[np.maximum(rows, 0)])
        at = np.where(chosen, rows, -1)
        given = {n: self.chunks.take(n, at) for n in ("source_id", "revision_id", "text")}
        return hits.with_fields({n: pc.coalesce(hits.field(n), v) for n, v in given.items()})

    def of(self, hits: Hits) -> list[Lookup]:
        """What the tables say of the hits: (a table, the row of every hit, -1 where none)."""
        found = []
        if self.chunks is not None:
            found.append((self.chunks, self.chunks.find(hits.field("chunk_id"))))
        if self.texts is not None and hits.has("text"):
            found.append((self.texts, self.texts.find(text_name(hits))))
        return found


Lookup = tuple[Chunks, Ints]


def text_name(hits: Hits) -> pa.Array:
    """A hit's text with the source and revision it names; null where it says where it stands."""
    parts = [pc.fill_null(hits.field(name), "") for name in ("source_id", "revision_id")]
    text = pc.if_else(hits.field("spans").is_valid(), None, hits.field("text"))
    return pc.binary_join_element_wise(*parts, text, pa.scalar("\0", TEXT))


@dataclass(frozen=True)
class Places:
    """Of some hits; arrays (n_hits,)."""

    source: pa.Array
    revision: pa.Array
    spans: pa.Array
    """Null: text that nobody located. Empty: a whole document."""
    tokens: pa.Array
    stands: pa.Array
    """STANDS, of text that stands at several places; else null."""

    def take(self, which: Ints) -> Places:
        """Some of them."""
        at = pa.array(which)
        parts = (self.source, self.revision, self.spans, self.tokens, self.stands)
        return Places(*(part.take(at) for part in parts))

    def structs(self, ids: pa.Array | None = None) -> pa.StructArray:
        """PLACE; ids: what they are called, where something looks them up by that."""
        names = pa.nulls(len(self.source), TEXT) if ids is None else ids
        fields = [names, self.source, self.revision, self.spans, self.tokens]
        return pa.StructArray.from_arrays(fields, fields=list(PLACE))


def sources(hits: Hits, found: Sequence[Lookup], known: Known) -> pa.Array:
    """The source of every hit: its own, its chunk's, or (without chunks) the one its id names.

    Text, or a dictionary where a chunk table alone says it.
    """
    own = hits.field("source_id")
    if own.null_count == 0:
        return own
    if own.null_count == len(own) and len(found) == 1:
        [(table, rows)] = found
        return table.column("source_id").take(_at(rows))
    for table, rows in found:
        own = pc.coalesce(own, table.take("source_id", rows))
    if known.chunks is not None:
        return own
    named = hits.field("chunk_id")
    if hits.has("text") or hits.has("spans"):
        named = pc.if_else(pa.array(whole(hits)), named, None)
    return pc.coalesce(own, named) if own.null_count < len(own) else named


def places(hits: Hits, source: pa.Array, found: Sequence[Lookup], known: Known) -> Places:
    """Where the hits lie. Of whole documents that the corpus has, all characters."""
    n = len(hits.list)
    bare = whole(hits)
    revision, spans = hits.field("revision_id"), hits.field("spans")
    tokens, stands = pa.nulls(n, pa.int64()), pa.nulls(n, STANDS)
    for table, rows in found:
        there = {name: table.take(name, rows) for name in LOOKED_UP}
        revision = pc.coalesce(revision, there["revision_id"])
        spans = pc.if_else(spans.is_valid(), spans, there["spans"])
        tokens = pc.coalesce(tokens, there["tokens"])
        stands = pc.if_else(stands.is_valid(), stands, there["stands"])
    if known.count is not None and hits.has("text"):
        text = hits.field("text")
        counts = pa.array(known.count(text), mask=np.asarray(text.is_null()))
        tokens = pc.coalesce(tokens, counts)
    if known.said is not None and tokens.null_count:
        at = known.said.find(_names(source, revision, spans))
        tokens = pc.coalesce(tokens, known.said.take("tokens", at))
    empty = bare & np.asarray(spans.is_null())
    spans = _filled(spans, empty, np.zeros(n, np.int64))
    result = Places(source, revision, merged(spans), tokens, stands)
    return result if known.documents is None else _in_corpus(result, empty, known.documents)


def _names(source: pa.Array, revision: pa.Array, spans: pa.Array) -> pa.Array:
    """What places without a text are called."""
    parts = {"source_id": source, "revision_id": revision, "spans": spans}
    return names(pa.StructArray.from_arrays(list(parts.values()), list(parts)))


def _in_corpus(places: Places, empty: Bools, documents: pl.DataFrame) -> Places:
    """With the current revision where none is named, and the length of whole documents."""
    frame = pl.DataFrame({"source_id": pl.Series(places.source)})
    joined = frame.join(documents, on="source_id", how="left", maintain_order="left")
    revision = pc.coalesce(places.revision, joined["revision_id"].to_arrow().cast(TEXT))
    same = pc.fill_null(pc.equal(revision, joined["revision_id"].to_arrow().cast(TEXT)), False)
    chars = np.where(np.asarray(same), joined["chars"].fill_null(0).to_numpy(), 0)
    return replace(places, revision=revision, spans=_filled(places.spans, empty, chars))


def _filled(spans: pa.Array, empty: Bools, chars: Ints) -> pa.Array:
    """`spans` with [0, chars) where `empty`; no span where there are no characters."""
    if not empty.any():
        return spans
    known = empty & (chars > 0)
    owner, pairs = flatten(spans)
    rows = np.concatenate([owner, np.flatnonzero(known)])
    order = np.argsort(rows, kind="stable")
    ends = {"start_char": np.zeros(known.sum(), np.int64), "end_char": chars[known]}
    start, end = (
        np.concatenate([np.asarray(pairs.field(name), np.int64), ends[name]])[order]
        for name in ("start_char", "end_char")
    )
    span = pa.StructArray.from_arrays([pa.array(start), pa.array(end)], ["start_char", "end_char"])
    null = np.asarray(spans.is_null()) & ~empty
    return lists(rows[order], span, len(spans), null=null).cast(SPANS)


def merged(spans: pa.Array) -> pa.Array:
    """Every hit's spans in order and disjoint, as users need not write them."""
    owner, pairs = flatten(spans)
    start, end = (np.asarray(f, np.int64) for f in pairs.flatten())
    unsorted = (owner[1:] == owner[:-1]) & (start[1:] <= end[:-1])
    if not unsorted.any():
        return spans
    order = np.lexsort((start, owner))
    owner, start, end = owner[order], start[order], end[order]
    step = owner * (int(end.max()) + 1)
    reach = np.maximum.accumulate(end + step) - step
    opens = np.append(True, (owner[1:] != owner[:-1]) | (start[1:] > reach[:-1]))
    first = np.flatnonzero(opens)
    last = np.append(first[1:], len(owner)) - 1
    span = pa.StructArray.from_arrays(
        [pa.array(start[first]), pa.array(reach[last])], ["start_char", "end_char"]
    )
    null = np.asarray(spans.is_null())
    return lists(owner[first], span, len(spans), null=null).cast(SPANS)


def agreeing(places: Places, row: Ints, evidence: Evidence) -> Places:
    """Revisions as the evidence of the same source has them, where one side names none.

    Without documents nobody knows which revision is meant: a side that names none means any.
    """
    of_gold = evidence.items.field("revision_id")
    if places.revision.null_count == len(row) and of_gold.null_count == len(of_gold):
        return places
    gold = pl.DataFrame(
        {
            "row": evidence.row,
            "source": pl.Series(evidence.items.field("source_id"), dtype=pl.String),
            "gold": pl.Series(of_gold, dtype=pl.String),
        }
    ).unique(["row", "source"], keep="first", maintain_order=True)
    hits = pl.DataFrame(
        {
            "row": row,
            "source": pl.Series(places.source, dtype=pl.String),
            "own": pl.Series(places.revision, dtype=pl.String),
        }
    )
    joined = hits.join(
        gold.with_columns(there=True), on=["row", "source"], how="left", maintain_order="left"
    )
    revision = joined.select(
        pl.when(pl.col("there") & (pl.col("gold").is_null() | pl.col("own").is_null()))
        .then("gold")
        .otherwise("own")
        .alias("revision")
    )
    return replace(places, revision=revision["revision"].to_arrow().cast(TEXT))


def _missing(spans: pa.Array) -> pa.Array:
    return pc.equal(pc.fill_null(pc.list_value_length(spans), 0), 0)


def _at(found: Ints) -> pa.Array:
    return pa.array(found, mask=found < 0)
