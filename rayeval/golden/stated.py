"""Evidence as the golden set states it, where there are no documents to look it up in."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import flatten, lists
from rayeval.golden.evaluate import EVALUATED, Evaluate
from rayeval.golden.locate import SPOT
from rayeval.tables import CATALOGUE, LOCATED, SPAN, SPANS


class Stated:
    """QUESTIONS to EVALUATED, row by row; `found` and `parsed` are null: nobody looked.

    Evidence without offsets has no spans: what is known of it is its quote, or its source.
    """

    def __init__(self, *, relevant: int, full: float) -> None:
        self._evaluate = Evaluate(CATALOGUE.empty_table(), relevant=relevant, full=full)

    def __call__(self, batch: pa.Table) -> pa.Table:
        """A row per question, in order."""
        rows, evidence = flatten(batch["evidence"])
        spots = lists(rows, _spots(rows, evidence), batch.num_rows)
        table = self._evaluate(batch.append_column("spots", spots))
        at = table.schema.get_field_index("evidence")
        rows, located = flatten(table["evidence"])
        column = lists(rows, _unobserved(located), batch.num_rows)
        return table.set_column(at, EVALUATED.field("evidence"), column)


def _spots(rows: np.ndarray, evidence: pa.StructArray) -> pa.StructArray:
    """(n_evidence,) of SPOT: each evidence where it says it is."""
    n = len(rows)
    owner, spans = flatten(evidence.field("spans"))
    nothing = pa.ListArray.from_arrays(pa.array(np.zeros(n + 1, np.int32)), pa.array([], SPAN))
    fields = {field.name: pa.nulls(n, field.type) for field in SPOT}
    fields |= {name: evidence.field(name) for name in ("source_id", "revision_id")}
    fields |= {
        "number": pa.array(np.arange(n) - np.searchsorted(rows, rows)),
        "exact": pa.array(np.ones(n, bool)),
        "spans": lists(owner, spans, n).cast(SPANS),
        "whole": pa.array(np.zeros(n, bool)),
        "around": nothing.cast(SPANS),
        "heading": nothing.cast(SPANS),
    }
    return pa.StructArray.from_arrays([fields[field.name] for field in SPOT], fields=list(SPOT))


def _unobserved(located: pa.StructArray) -> pa.StructArray:
    n = len(located)
    fields = {field.name: located.field(field.name) for field in LOCATED}
    fields |= {"found": pa.nulls(n, pa.large_string()), "parsed": pa.nulls(n, pa.bool_())}
    whole = pc.is_valid(located.field("element_id"))
    fields["whole"] = whole
    ordered = [fields[field.name] for field in LOCATED]
    return pa.StructArray.from_arrays(ordered, fields=list(LOCATED))
