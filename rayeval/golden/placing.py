"""Hits of other systems located in the documents, by the rules for gold (DESIGN §4)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from rayeval.columns import Ints, flatten, lists
from rayeval.golden.anchor import Place
from rayeval.golden.document import Document
from rayeval.golden.problems import FaultError
from rayeval.golden.revisions import choose_revisions
from rayeval.golden.shelf import KEY, Shelf
from rayeval.golden.spots import located
from rayeval.stage import Shard, Stage
from rayeval.tables import EVIDENCE, SPANS, TEXT

PLACED = pa.struct(
    [
        ("number", pa.int64()),  # which of the question's hits, from 0
        ("exact", pa.bool_()),  # else found but for its form
        ("source_id", TEXT),
        ("revision_id", TEXT),
        ("spans", SPANS),  # null where `message` says what is wrong with the hit
        ("text", TEXT),
        ("message", TEXT),
    ]
)
"""One place where a hit may lie."""

HEAD = 64
"""Characters by which documents are chosen that may hold a text that names no source."""


class Placing:
    """Scatters `found` (lists of FOREIGN_HIT) over the documents.

    Inputs of a shard: `documents` and `elements`, partitions aligned, and the `catalogue`.
    Answers `question_id, spots: list<PLACED>`: every place of a hit by its source and spans, by its
    text, or of all its document, in order of hits. Of places alike two are enough to know that a
    hit is ambiguous.
    """

    def load(self, shard: Shard) -> Stage:
        """What answers for the documents of one shard."""
        return _Placer(Shelf(shard), shard.table("catalogue"))

    def gather(self, parts: Sequence[pa.Table]) -> pa.Table:
        """The places in all shards."""
        rows, spots = zip(*(flatten(part["spots"]) for part in parts), strict=True)
        return _answer(parts[0]["question_id"], np.concatenate(rows), pa.concat_arrays(spots))


class _Placer:
    def __init__(self, shelf: Shelf, catalogue: pa.Table) -> None:
        self._shelf, self._catalogue = shelf, catalogue

    def __call__(self, batch: pa.Table) -> pa.Table:
        rows, hits = flatten(batch["found"])
        evidence = self._evidence(rows, hits, batch)
        numbers = np.arange(len(rows)) - np.searchsorted(rows, rows)
        items: list[int] = []
        found: list[dict[str, Any]] = []
        for (position,), group in self._wanted(evidence).group_by("position", maintain_order=True):
            document = self._shelf.document(position)
            entries = evidence.take(group["item"].to_arrow()).to_pylist()
            for item, entry in zip(group["item"], entries, strict=True):
                spots = [{**spot, "number": numbers[item]} for spot in _spots(document, entry)]
                items += [item] * len(spots)
                found += spots
        return _answer(batch["question_id"], rows[items], pa.array(found, PLACED))

    def _evidence(self, rows: Ints, hits: pa.Array, batch: pa.Table) -> pa.Array:
        """The hits in the form of evidence: a text is a quote; revisions are chosen alike."""
        names = {"quote": "text"}
        fields = [
            hits.field(names.get(field.name, field.name))
            if names.get(field.name, field.name) in _OF_A_HIT
            else pa.nulls(len(hits), field.type)
            for field in EVIDENCE
        ]
        column = lists(rows, pa.StructArray.from_arrays(fields, fields=list(EVIDENCE)), len(batch))
        chosen = choose_revisions(pa.table({"evidence": column}), self._catalogue)
        return flatten(chosen["evidence"])[1]

    def _wanted(self, evidence: pa.Array) -> pl.DataFrame:
        """(`item` of the hits, `position` of a document that may hold it), by document."""
        fields = {name: evidence.field(name) for name in [*KEY, "quote"]}
        frame = pl.DataFrame(pl.from_arrow(pa.table(fields))).with_row_index("item")
        free = frame.filter(pl.col("source_id").is_null() & (pl.col("quote") != ""))
        pairs = [self._shelf.named(frame).select("item", "position")]
        if len(free):
            saying = self._shelf.saying(free["quote"].unique().to_list(), HEAD)
            pairs.append(free.join(saying, on="quote").select("item", "position"))
        return pl.concat(pairs).sort("position", "item")


_OF_A_HIT = frozenset(("source_id", "revision_id", "spans", "text"))


def _spots(document: Document, hit: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of PLACED for a hit that names this document, or no document at all."""
    hit = {**hit, "quote": hit["quote"] or None}
    if hit["source_id"] is None:
        places, exact = document.find(hit["quote"])
        yield from islice((_spot(document, [place], exact) for place in places), 2)
        return
    try:
        yield _spot(document, located(document, hit), True)
    except FaultError as fault:
        places = []
        if hit["quote"] is not None:  # its offsets are wrong, or its text has another form
            places, exact = document.find(hit["quote"])
            yield from islice((_spot(document, [place], exact) for place in places), 2)
        if not places:
            yield {"exact": True, "message": str(fault)}


def _spot(document: Document, spans: Sequence[Place], exact: bool) -> dict[str, Any]:
    return {
        "source_id": document.source_id,
        "revision_id": document.revision_id,
        "exact": exact,
        "spans": [{"start_char": start, "end_char": end} for start, end in spans],
        "text": "\n".join(document.text[start:end] for start, end in spans),
    }


def _answer(question_ids: pa.ChunkedArray, rows: Ints, spots: pa.StructArray) -> pa.Table:
    """Places in order of hits, exact ones first, then by document."""
    names = ["number", "exact", *KEY]
    table = pa.table([rows, *map(spots.field, names)], names=["row", *names])
    frame = pl.DataFrame(pl.from_arrow(table)).with_row_index("spot")
    order = frame.sort("row", *names, descending=[False, False, True, False, False])
    kept = order.filter(pl.int_range(pl.len()).over("row", "number", "exact") < 2)
    chosen = spots.take(kept["spot"].to_arrow())
    answer = lists(kept["row"].to_numpy(), chosen, len(question_ids))
    return pa.table({"question_id": question_ids, "spots": answer})
