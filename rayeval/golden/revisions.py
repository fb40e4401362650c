"""Which revision evidence is about where it names only the source."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import combined, flatten, lists
from rayeval.tables import EVIDENCE


def choose_revisions(questions: pa.Table, catalogue: pa.Table) -> pa.Table:
    """`questions` whose evidence has the revision that is valid at `as_of` where it named none.

    questions: tables.QUESTIONS, any rows of it.
    catalogue: tables.CATALOGUE, at most one `current` row of a source.
    A source without a current revision leaves the revision null.
    """
    rows, evidence = flatten(questions["evidence"])
    current = catalogue.filter(catalogue["current"])
    at = pc.index_in(evidence.field("source_id"), value_set=current["source_id"])
    valid = combined(current["revision_id"]).take(at)
    fields = {field.name: evidence.field(field.name) for field in EVIDENCE}
    fields["revision_id"] = pc.coalesce(fields["revision_id"], valid)
    chosen = pa.StructArray.from_arrays(list(fields.values()), fields=list(EVIDENCE))
    number = questions.schema.get_field_index("evidence")
    column = lists(rows, chosen, questions.num_rows)
    return questions.set_column(number, questions.schema.field(number), column)
