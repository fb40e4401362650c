"""Gold evidence located in the documents: every shard answers for those it holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Ints, flatten, lists
from rayeval.golden.anchor import Place
from rayeval.golden.document import Document
from rayeval.golden.problems import FaultError
from rayeval.golden.shelf import KEY, Shelf
from rayeval.golden.spots import located
from rayeval.stage import Shard, Stage
from rayeval.tables import SPANS, TEXT

MOST_PLACES = 1000
"""A quote without a source that occurs more often is refused: it says nothing."""

SPOT = pa.struct(
    [
        ("number", pa.int64()),  # which of the question's evidence, from 0
        ("exact", pa.bool_()),  # else found but for its form
        ("source_id", TEXT),
        ("revision_id", TEXT),
        ("spans", SPANS),  # empty where `kind` says why it isn't located
        ("whole", pa.bool_()),  # located by an element
        ("covered", pa.int64()),  # characters of the spans that lie in the parsed elements
        ("read", pa.bool_()),  # the elements' text there is the source's
        ("around", SPANS),  # the characters on either side
        ("heading", SPANS),  # the nearest heading above, if any
        ("kind", TEXT),  # a problem's
        ("message", TEXT),
    ]
)
"""One place where evidence stands, or the problem of evidence that its document contradicts."""


class Locate:
    """Scatters QUESTIONS, their revisions chosen, over the documents.

    Inputs of a shard: `documents` and `elements`, partitions aligned, and the `catalogue`.
    Answers `question_id, spots: list<SPOT>`, a row per question; `Evaluate` makes RESOLVED of them.
    """

    def load(self, shard: Shard) -> Stage:
        """What answers for the documents of one shard."""
        return _Locator(Shelf(shard))

    def gather(self, parts: Sequence[pa.Table]) -> pa.Table:
        """The spots of all shards."""
        flat = [flatten(part["spots"]) for part in parts]
        rows = np.concatenate([rows for rows, _ in flat])
        return _answer(
            parts[0]["question_id"], rows, pa.concat_arrays([spots for _, spots in flat])
        )


class _Locator:
    """Locates what stands in the documents of one shard."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def __call__(self, batch: pa.Table) -> pa.Table:
        rows, evidence = flatten(batch["evidence"])
        numbers = np.arange(len(rows)) - np.searchsorted(rows, rows)
        wanted = self._wanted(evidence)
        found: list[dict[str, Any]] = []
        items: list[int] = []
        for (position,), group in wanted.group_by("position", maintain_order=True):
            document = self._shelf.document(position)
            chosen = group["item"].to_list()
            for item, entry in zip(
                chosen, evidence.take(pa.array(chosen)).to_pylist(), strict=True
            ):
                spots = [{**spot, "number": numbers[item]} for spot in _spots(document, entry)]
                found += spots
                items += [item] * len(spots)
        return _answer(batch["question_id"], rows[items], pa.array(found, SPOT))

    def _wanted(self, evidence: pa.StructArray) -> pl.DataFrame:
        """(`item` of the evidence, `position` of a document that may hold it), by document."""
        fields = {name: evidence.field(name) for name in [*KEY, "quote"]}
        frame = pl.DataFrame(pl.from_arrow(pa.table(fields))).with_row_index("item")
        named = self._shelf.named(frame)
        free = frame.filter(pl.col("source_id").is_null() & pl.col("quote").is_not_null())
        pairs = [named.select("item", "position")]
        if len(free):
            saying = self._shelf.saying(free["quote"].unique().to_list())
            pairs.append(free.join(saying, on="quote").select("item", "position"))
        return pl.concat(pairs).sort("position", "item")


def _spots(document: Document, evidence: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of SPOT for evidence that names this document, or no document at all."""
    if evidence["source_id"] is None:
        places, exact = document.find(evidence["quote"])
        for place in places[: MOST_PLACES + 1]:
            yield {**_spot(document, [place]), "exact": exact}
        return
    try:
        spans = located(document, evidence)
    except FaultError as fault:
        yield {"exact": True, "spans": [], "kind": fault.kind, "message": str(fault)}
    else:
        whole = evidence["spans"] is None and evidence["element_id"] is not None
        yield {**_spot(document, spans), "whole": whole}


def _spot(document: Document, spans: Sequence[Place]) -> dict[str, Any]:
    start, end = spans[0][0], spans[-1][1]
    return {
        "source_id": document.source_id,
        "revision_id": document.revision_id,
        "exact": True,
        "spans": _structs(spans),
        "whole": False,
        "covered": document.covered(spans),
        "read": document.read(spans),
        "around": _structs(document.around(start, end)),
        "heading": _structs(document.heading(start)),
    }


def _structs(places: Sequence[Place]) -> list[dict[str, int]]:
    return [{"start_char": start, "end_char": end} for start, end in places]


def _answer(question_ids: pa.ChunkedArray, rows: Ints, spots: pa.StructArray) -> pa.Table:
    """Spots in order of evidence, exact ones first, then by place; no more than needed."""
    spot, spans = flatten(spots.field("spans"))
    starts = np.zeros(len(spots), dtype=np.int64)
    starts[spot[::-1]] = spans.field("start_char").to_numpy()[::-1]  # each spot's first
    columns = ["row", "number", "inexact", *KEY, "start"]
    inexact = pc.invert(spots.field("exact"))
    fields = [rows, spots.field("number"), inexact, *map(spots.field, KEY), starts]
    frame = pl.DataFrame(pl.from_arrow(pa.table(fields, names=columns))).with_row_index("spot")
    order = frame.sort(columns).filter(pl.int_range(pl.len()).over("row", "number") <= MOST_PLACES)
    kept = order["spot"].to_arrow()
    answer = lists(order["row"].to_numpy(), spots.take(kept), len(question_ids))
    return pa.table({"question_id": question_ids, "spots": answer})
