"""Whether each evidence was found, and what there is to say where it wasn't."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import lists
from rayeval.golden.alternatives import Alternatives
from rayeval.golden.problems import nearest, shown
from rayeval.tables import TEXT

PROBLEM = pa.struct([("kind", TEXT), ("message", TEXT), ("warning", pa.bool_())])
COMPARED = 500
"""Source ids that an unknown one is compared with: all, or its neighbours in the alphabet."""

Outcome = tuple[str | None, str, str]
"""`found` of tables.LOCATED, a problem's kind and its message."""


class Outcomes:
    """Knows the catalogue, and so why a document may be missing."""

    def __init__(self, catalogue: pa.Table) -> None:
        columns = ["source_id", "revision_id", "deleted_at", "current"]
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
        problems = [{"kind": k, "message": m, "warning": False} for _, k, m in outcomes]
        listed = lists(found.rows[items], pa.array(problems, PROBLEM), n_rows)
        return pa.array(codes, TEXT), listed

    def _outcome(self, evidence: Mapping[str, Any], spot: Mapping[str, Any] | None) -> Outcome:
        who, source, revision = (evidence[n] for n in ("evidence_id", "source_id", "revision_id"))
        if spot is not None:
            where = f" in source {source!r}, revision {revision!r}" if source is not None else ""
            return None, spot["kind"], f"evidence {who!r}{where}: {spot['message']}"
        if source is not None:
            code, kind, message = self._absence(source, revision)
            return code, kind, f"evidence {who!r}: {message}"
        quote = shown(evidence["quote"])
        message = (
            f"evidence {who!r}: the quote {quote} stands in no current document, not even with "
        )
        return None, "quote_lost", message + "other white space or Unicode form"

    def _absence(self, source_id: str, revision_id: str | None) -> Outcome:
        revisions = self._catalogue.filter(pl.col("source_id") == source_id).sort("revision_id")
        if revisions.is_empty():
            hint = nearest_source(source_id, self._sources)
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


def nearest_source(source_id: str, sources: list[str]) -> str:
    """A hint to the one of `sources`, sorted, that `source_id` is most like, or nothing."""
    at = bisect_left(sources, source_id)
    first = max(0, at - COMPARED // 2) if len(sources) > COMPARED else 0
    return nearest(source_id, sources[first : first + COMPARED])
