"""Whether each evidence was found, and what there is to say where it wasn't."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import lists
from rayeval.golden.alternatives import Alternatives
from rayeval.golden.problems import nearest, shown
from rayeval.golden.text import folded
from rayeval.tables import TEXT

PROBLEM = pa.struct([("kind", TEXT), ("message", TEXT), ("warning", pa.bool_())])
COMPARED = 500
"""Source ids that an unknown one is compared with: all, or its neighbours in the alphabet."""

EXTRACTED = ("pdf", "docx")
"""Formats whose text is what an extractor gives."""

Outcome = tuple[str | None, str, str]
"""`found` of tables.LOCATED, a problem's kind and its message."""


class Outcomes:
    """Knows the catalogue, and so why a document may be missing."""

    def __init__(self, catalogue: pa.Table) -> None:
        columns = ["source_id", "revision_id", "deleted_at", "current", "format"]
        self._catalogue = pl.DataFrame(pl.from_arrow(catalogue.select(columns)))

    def of(self, found: Alternatives, n_rows: int) -> tuple[pa.Array, pa.Array]:
        """(`found` of every alternative, `problems` of each of the `n_rows` questions)."""
        kinds = pc.struct_field(found.spot, "kind")
        unlocated = pc.or_(pc.is_null(found.spot), pc.is_valid(kinds))
        items = np.flatnonzero(unlocated.to_numpy(zero_copy_only=False))
        at = pa.array(items)
        cases = zip(
            found.evidence.take(at).to_pylist(),
            found.spot.take(at).to_pylist(),
            strict=True,
        )
        outcomes = [self._outcome(*case) for case in cases]
        codes = np.full(len(found.rows), "located", dtype=object)
        codes[items] = [code for code, _, _ in outcomes]
        said = [
            (item, k, m, False) for item, (_, k, m) in zip(items.tolist(), outcomes, strict=True)
        ]
        said += [(item, "extracted_offsets", m, True) for item, m in self._unquoted(found)]
        said.sort(key=itemgetter(0))
        problems = [{"kind": k, "message": m, "warning": w} for _, k, m, w in said]
        rows = found.rows[[item for item, *_ in said]] if said else found.rows[:0]
        return pa.array(codes, TEXT), lists(rows, pa.array(problems, PROBLEM), n_rows)

    def _unquoted(self, found: Alternatives) -> Iterator[tuple[int, str]]:
        """(item, warning) of evidence in an extracted text that is stated by offsets alone."""
        names = ["evidence_id", "source_id", "revision_id", "spans", "quote"]
        stated = pl.DataFrame(pa.table({name: found.evidence.field(name) for name in names}))
        bare = stated.with_row_index("item").filter(
            pl.col("spans").is_not_null() & pl.col("quote").is_null()
        )
        texts = self._catalogue.filter(pl.col("format").is_in(EXTRACTED))
        bare = bare.join(texts.select(*names[1:3], "format"), on=names[1:3]).sort("item")
        for item, who, source, *_, format_ in bare.iter_rows():
            where = f"evidence {who!r}: its offsets into {source!r}"
            text = f"those of one extractor's text of the {format_}, and move with its version"
            yield item, f"{where} are {text}; add the quote"

    def _outcome(self, evidence: Mapping[str, Any], spot: Mapping[str, Any] | None) -> Outcome:
        who, source, revision = (evidence[n] for n in ("evidence_id", "source_id", "revision_id"))
        if spot is not None:
            where = f" in source {source!r}, revision {revision!r}" if source is not None else ""
            return None, spot["kind"], f"evidence {who!r}{where}: {spot['message']}"
        if source is not None:
            code, kind, message = self._absence(source, revision)
            return code, kind, f"evidence {who!r}: {message}"
        quote = shown(evidence["quote"])
        on = f" on page {evidence['page']}" if evidence["page"] is not None else ""
        message = (
            f"evidence {who!r}: the quote {quote} stands{on} in no current document, not even with "
        )
        return None, "quote_lost", message + "other white space or Unicode form"

    def _absence(self, source_id: str, revision_id: str | None) -> Outcome:
        revisions = self._catalogue.filter(pl.col("source_id") == source_id).sort("revision_id")
        if revisions.is_empty():
            written = self._written_so.get(folded(source_id))
            hint = f"; did you mean {written!r}?" if written else ""
            hint = hint or nearest_source(source_id, self._sources)
            message = f"no source {source_id!r} in the corpus{hint}"
            return "missing_source", "unknown_source", message
        known = ", ".join(map(repr, revisions["revision_id"].to_list()))
        wanted = "revision that is valid" if revision_id is None else f"revision {revision_id!r}"
        message = f"source {source_id!r} has no {wanted}; known are {known}"
        deleted = revisions["deleted_at"].drop_nulls().to_list()
        if deleted and not revisions["current"].any():
            message += f"; the source is deleted ({max(deleted):%Y-%m-%d})"
        return "missing_revision", "unknown_revision", message

    @cached_property
    def _sources(self) -> list[str]:
        return self._catalogue["source_id"].unique().sort().to_list()

    @cached_property
    def _written_so(self) -> dict[str, str]:
        """How a source is written, by its folded name; the first where two fold alike."""
        return {folded(name): name for name in reversed(self._sources)}


def nearest_source(source_id: str, sources: list[str]) -> str:
    """A hint to the one of `sources`, sorted, that `source_id` is most like, or nothing."""
    at = bisect_left(sources, source_id)
    first = max(0, at - COMPARED // 2) if len(sources) > COMPARED else 0
    return nearest(source_id, sources[first : first + COMPARED])
