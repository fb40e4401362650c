"""Located evidence as evaluated: what is gold for this asker, and what went wrong."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Ints, combined, flatten, lists
from rayeval.golden.access import KEY, Access
from rayeval.golden.alternatives import Alternatives, alternatives
from rayeval.golden.locate import SPOT
from rayeval.golden.outcomes import PROBLEM, Outcomes
from rayeval.golden.slices import Bools, all_slices
from rayeval.tables import EVIDENCE, LOCATED, RESOLVED, TEXT

EVALUATED = RESOLVED.append(pa.field("problems", pa.list_(PROBLEM)))
"""What `Evaluate` gives."""

ROUNDING = 1e-9
"""A share of 0.8 asks for 8 of 10 characters, whatever 0.8 * 10 is in binary."""


class Evaluate:
    """QUESTIONS beside the `spots` that Locate gives to EVALUATED, row by row.

    catalogue: tables.CATALOGUE.
    relevant: evidence of this relevance or more, that the asker may see, is gold.
    full: the share of evidence that parsed elements must cover for it to have survived parsing.
    short_under: evidence of fewer characters needs its heading, or its context, too; 0: none.
    """

    def __init__(
        self,
        catalogue: pa.Table,
        *,
        relevant: int = 2,
        full: float = 0.8,
        short_under: int = 0,
        short_need: Literal["heading", "context"] = "context",
    ) -> None:
        self._outcomes = Outcomes(catalogue)
        self._access = Access(catalogue)
        self._relevant = relevant
        self._full = full
        self._short_under = short_under
        self._needed = "heading" if short_need == "heading" else "around"

    def __call__(self, batch: pa.Table) -> pa.Table:
        """A row per question, in order."""
        n_rows = batch.num_rows
        found = alternatives(*flatten(batch["evidence"]), *flatten(batch["spots"]))
        codes, problems = self._outcomes.of(found, n_rows)
        located = self._located(found, codes, batch["principals"])
        relevant = pc.greater_equal(located.field("relevance"), self._relevant)
        gold = located.field("gold")
        unsaid = np.asarray(combined(batch["answerable"]).is_null())
        stated = np.asarray(pc.fill_null(combined(batch["answerable"]), True))
        hidden = _any(found.rows, relevant, n_rows) & ~_any(found.rows, gold, n_rows)
        forbidden, answerable = stated & hidden, pa.array(stated & ~hidden, mask=unsaid)
        columns = {
            **{name: batch[name] for name in RESOLVED.names},
            "answerable": answerable,
            "evidence": lists(found.rows, located, n_rows),
            "slices": all_slices(batch, answerable, forbidden),
            "cluster": _clusters(batch, found.rows, located),
            "problems": problems,
        }
        return pa.table([columns[name] for name in EVALUATED.names], schema=EVALUATED)

    def _located(
        self, found: Alternatives, codes: pa.Array, principals: pa.ChunkedArray
    ) -> pa.StructArray:
        """(n_alternatives,) of tables.LOCATED."""
        n_items = len(found.rows)
        spot = {field.name: pc.struct_field(found.spot, field.name) for field in SPOT}
        own = {field.name: found.evidence.field(field.name) for field in EVIDENCE}
        keys = {name: pc.coalesce(own[name], spot[name]) for name in KEY}
        visible = self._access.visible(found.rows, pa.table(keys), principals)
        placed, spans = flatten(spot["spans"])
        chars = pc.subtract(spans.field("end_char"), spans.field("start_char")).to_numpy()
        lengths = np.bincount(placed, weights=chars, minlength=n_items)
        covers = pc.greater_equal(spot["covered"], pa.array(lengths * self._full - ROUNDING))
        needy, needed = flatten(spot[self._needed])
        short = (lengths < self._short_under)[needy]
        fields = {
            **own,
            **keys,
            "evidence_id": _numbered(own["evidence_id"], found.copy),
            "spans": lists(placed, spans, n_items),
            "page": pc.coalesce(own["page"], spot["page"]),
            "found": codes,
            "parsed": pc.and_(covers, spot["read"]),
            "visible": pa.array(visible),
            "gold": pc.and_(visible, pc.greater_equal(own["relevance"], self._relevant)),
            "whole": pc.fill_null(spot["whole"], False),
            "needs": lists(needy[short], needed.filter(pa.array(short)), n_items),
        }
        ordered = [fields[field.name] for field in LOCATED]
        return pa.StructArray.from_arrays(ordered, fields=list(LOCATED))


def _numbered(ids: pa.Array, copy: Ints) -> pa.Array:
    """`e1`, and `e1#2`, `e1#3`, … for the other places of its quote."""
    more = pc.binary_join_element_wise(ids, pa.array(copy + 1).cast(TEXT), pa.scalar("#", TEXT))
    return pc.if_else(pa.array(copy > 0), more, ids)


def _any(rows: Ints, flags: pa.Array, n_rows: int) -> Bools:
    """(n_rows,), whether any of a row's flags is set."""
    marked = rows[flags.to_numpy(zero_copy_only=False)]
    return np.bincount(marked, minlength=n_rows) > 0


def _clusters(questions: pa.Table, rows: Ints, located: pa.StructArray) -> pa.Array:
    """What is drawn together: `cluster`, else the first gold's source, else the question itself."""
    sources = located.field("source_id")
    gold = pc.and_(located.field("gold"), pc.is_valid(sources)).to_numpy(zero_copy_only=False)
    items = np.flatnonzero(gold)
    with_gold, first = np.unique(rows[items], return_index=True)
    at = np.full(questions.num_rows, -1)
    at[with_gold] = items[first]
    of_gold = sources.take(pa.array(at, mask=at < 0))
    return pc.coalesce(combined(questions["cluster"]), of_gold, combined(questions["question_id"]))
