"""Offsets without a quote that look as if they counted UTF-16 units or bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import polars as pl
import pyarrow as pa

from rayeval.columns import flatten
from rayeval.errors import Problem
from rayeval.golden.anchor import Place
from rayeval.golden.lint.notes import notes
from rayeval.golden.problems import shown
from rayeval.golden.units import UNITS, Counted

KEY = ["source_id", "revision_id"]


class Offsets:
    """Looks at spans as the documents pass by.

    questions: RESOLVED. Offsets that contradict a quote or the text's length are said where
    evidence is located; here are those that nothing contradicts, yet which cut words at an end
    while the same numbers as units of another kind cut none.
    """

    def __init__(self, questions: pa.Table) -> None:
        self._questions = questions
        rows, evidence = flatten(questions["evidence"])
        names = ["evidence_id", *KEY, "spans", "quote", "element_id"]
        items = pl.DataFrame(pl.from_arrow(pa.table({n: evidence.field(n) for n in names})))
        bare = pl.col("quote").is_null() & pl.col("element_id").is_null()
        items = items.with_columns(row=rows).filter(bare & (pl.col("spans").list.len() > 0))
        self._items = items.drop("quote", "element_id")
        self._found: list[tuple[int, str]] = []

    def see(self, documents: pa.Table) -> None:
        """Looks at the spans in these DOCUMENTS; in ASCII all units are one."""
        texts = pl.DataFrame(pl.from_arrow(documents.select([*KEY, "text"]))).drop_nulls("text")
        wide = texts.filter(pl.col("text").str.len_bytes() > pl.col("text").str.len_chars())
        here = self._items.join(wide, on=KEY).sort(*KEY, "row", "evidence_id")
        for (text,), group in here.group_by("text", maintain_order=True):
            ways = {unit: Counted(text, unit) for unit in UNITS}
            for item in group.iter_rows(named=True):
                said = _said(text, item, ways)
                if said is not None:
                    self._found.append((item["row"], said))

    def problems(self) -> list[Problem]:
        """A warning for each such evidence."""
        return notes(self._questions, "offsets_in_other_units", sorted(self._found))


def _said(text: str, item: dict[str, Any], ways: dict[Any, Counted]) -> str | None:
    spans = [(span["start_char"], span["end_char"]) for span in item["spans"]]
    if not cuts(text, spans):
        return None
    for unit, counted in ways.items():
        meant = counted.code_points(spans)
        if meant is not None and meant != spans and not cuts(text, meant):
            here, there = (" … ".join(text[a:b] for a, b in s) for s in (spans, meant))
            where = ", ".join(f"[{a}, {b})" for a, b in meant)
            return (
                f"evidence {item['evidence_id']!r} in {item['source_id']!r} is {shown(here)}, "
                f"which cuts a word; as {unit} it is {shown(there)}: if so, write {where}, "
                "and a quote"
            )
    return None


def cuts(text: str, spans: Sequence[Place]) -> bool:
    """Whether a span begins or ends within a word."""
    return any(
        0 < at < len(text) and text[at - 1].isalnum() and text[at].isalnum()
        for span in spans
        for at in span
    )
