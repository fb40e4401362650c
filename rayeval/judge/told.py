"""Verdicts that came with a trace, as if a judge of ours had said them: never mixed with those."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import combined
from rayeval.judge.item import Item, items_of
from rayeval.judge.stage import table_of
from rayeval.tables import TEXT

Row = Mapping[str, Any]


class Told:
    """A stage: answers, and what their contexts say (`items_of`) → JUDGEMENTS.

    verdicts: VERDICTS. What they lack of an answer is among its outcomes, task by task: a metric of
    what nobody judged is undefined, and no error.
    """

    def __init__(self, verdicts: pa.Table) -> None:
        self.verdicts = verdicts

    def __call__(self, batch: pa.Table) -> pa.Table:
        """A row per question, in order."""
        ids = combined(batch["question_id"])
        here = self.verdicts.filter(pc.is_in(self.verdicts["question_id"], value_set=ids))
        said = {(row["question_id"], row["repeat"]): row for row in here.to_pylist()}
        names = ids.to_pylist()
        items = []
        for item in items_of(batch):
            row = said.get((names[item.row], item.repeat))
            if row is not None:
                items.append(_judged(item, row))
        table = table_of(batch, items)
        errors = pa.nulls(batch.num_rows, TEXT)
        return table.set_column(table.column_names.index("error"), "error", errors)


def _judged(item: Item, row: Row) -> Item:
    """The item with the verdicts; passages under the ids that they have as hits."""
    known = {passage.text: passage.chunk_id for passage in item.passages or ()}
    chunks = {f"E{n}": known.get(text) for n, text in enumerate(row["passages"], start=1)}
    item.claims = _claims(row["claims"], chunks)
    item.reference_claims = _claims(row["reference_claims"], chunks)
    item.outcomes += row["outcomes"]
    return item


def _claims(
    claims: Sequence[Row] | None, chunks: Mapping[str, str | None]
) -> list[dict[str, Any]] | None:
    if claims is None:
        return None
    return [{**claim, "chunks": _named(claim["chunks"], chunks)} for claim in claims]


def _named(marks: Sequence[str] | None, chunks: Mapping[str, str | None]) -> list[str] | None:
    """Each chunk once, in the passages' order; a passage that is no hit has no name."""
    if marks is None:
        return None
    return [name for name in dict.fromkeys(chunks[mark] for mark in marks) if name is not None]
