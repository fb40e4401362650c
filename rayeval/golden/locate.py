"""Gold evidence located in the documents: every shard answers for those it holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from rayeval.columns import Ints, flatten, lists
from rayeval.golden.anchor import Place
from rayeval.golden.document import Document
from rayeval.golden.problems import FaultError
from rayeval.golden.shelf import KEY, Shelf
from rayeval.golden.spots import located
from rayeval.stage import Shard, Stage
from rayeval.tables import SPANS, TEXT

MOST_PLACES = 1000
"""A quote without a source that stands more often is refused: it says nothing."""
COMMON = {
    "spans": [],
    "kind": "quote_ambiguous",
    "message": f"the quote stands at more than {MOST_PLACES} places; name its source",
}

SAME = ["row", "number", "exact"]
"""What spots of one evidence that count alike have in common."""

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
        ("page", pa.int64()),  # on which it begins, where that is known
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
        rows, spots = zip(*(flatten(part["spots"]) for part in parts), strict=True)
        return _answer(parts[0]["question_id"], np.concatenate(rows), pa.concat_arrays(spots))


class _Locator:
    """Locates what stands in the documents of one shard."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def __call__(self, batch: pa.Table) -> pa.Table:
        rows, evidence = flatten(batch["evidence"])
        numbers = np.arange(len(rows)) - np.searchsorted(rows, rows)
        items: list[int] = []
        found: list[dict[str, Any]] = []
        places: Counter[int] = Counter()
        for (position,), group in self._wanted(evidence).group_by("position", maintain_order=True):
            document = self._shelf.document(position)
            # A quote that is too common already needn't be looked for in all that follow.
            chosen = [item for item in group["item"] if places[item] <= MOST_PLACES]
            entries = evidence.take(pa.array(chosen, pa.int64())).to_pylist()
            for item, entry in zip(chosen, entries, strict=True):
                spots = [{**spot, "number": numbers[item]} for spot in _spots(document, entry)]
                places[item] += sum(spot["exact"] for spot in spots)
                items += [item] * len(spots)
                found += spots
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
        if evidence["page"] is not None and document.last_page:
            places = [place for place in places if evidence["page"] in document.pages(*place)]
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
        "page": next(iter(document.pages(start, end)), None),
    }


def _structs(places: Sequence[Place]) -> list[dict[str, int]]:
    return [{"start_char": start, "end_char": end} for start, end in places]


def _answer(question_ids: pa.ChunkedArray, rows: Ints, spots: pa.StructArray) -> pa.Table:
    """Spots in order of evidence, exact ones first, then by place."""
    spot, spans = flatten(spots.field("spans"))
    starts = np.zeros(len(spots), dtype=np.int64)
    starts[spot[::-1]] = spans.field("start_char").to_numpy()[::-1]  # each spot's first
    names = ["number", "exact", "kind", *KEY]
    table = pa.table([rows, starts, *map(spots.field, names)], names=["row", "start", *names])
    frame = pl.DataFrame(pl.from_arrow(table)).with_row_index("spot")
    order = frame.sort(*SAME, *KEY, "start", descending=[False, False, True, *[False] * 3])
    order, spots = _with_common_as_one(order, spots)
    answer = lists(order["row"].to_numpy(), spots.take(order["spot"].to_arrow()), len(question_ids))
    return pa.table({"question_id": question_ids, "spots": answer})


def _with_common_as_one(
    order: pl.DataFrame, spots: pa.StructArray
) -> tuple[pl.DataFrame, pa.StructArray]:
    """COMMON in the place of too many spots; what one shard found too common stays so."""
    marked = (pl.len() > 1) & pl.col("kind").is_not_null().any()
    order = order.with_columns(common=(marked | (pl.len() > MOST_PLACES)).over(SAME))
    order = order.filter(~pl.col("common") | (pl.int_range(pl.len()).over(SAME) == 0))
    marks = order.filter("common").select("number", "exact").to_dicts()
    at = len(spots) + pl.col("common").cum_sum() - 1
    order = order.with_columns(spot=pl.when("common").then(at).otherwise("spot"))
    return order, pa.concat_arrays([spots, pa.array([COMMON | mark for mark in marks], SPOT)])
