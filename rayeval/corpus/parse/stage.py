"""The stage: DOCUMENTS to PARSED."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from rayeval.columns import lists
from rayeval.corpus.config import Parse
from rayeval.corpus.parse import html, markdown, text
from rayeval.corpus.parse.element import OURS, Element
from rayeval.stage import Stage
from rayeval.tables import ELEMENT, PARSED

_PARSERS: dict[str, Callable[[str, int], list[Element]]] = {
    "markdown": markdown.elements,
    "text": text.elements,
    "html": html.elements,
}


def build(config: Parse) -> Stage:
    """The parser that `config` describes."""
    del config  # offsets count in the source: nothing else is on offer
    return Parser()


class Parser:
    """Finds every document's elements, each by its format; a tombstone has none."""

    def __call__(self, batch: pa.Table) -> pa.Table:
        """DOCUMENTS to PARSED, row by row."""
        names = ("text", "format", "text_start", "layout")
        found = [_parsed(*row) for row in zip(*(batch[n].to_pylist() for n in names), strict=True)]
        rows = np.repeat(np.arange(len(found)), [len(elements) for elements in found])
        flat = [element for elements in found for element in elements]
        elements = lists(rows, _elements(flat), len(found))
        columns = [batch["source_id"], batch["revision_id"], elements]
        return pa.table(columns, schema=PARSED)


def _parsed(
    source: str | None, format_: str, start: int | None, layout: list[dict[str, Any]] | None
) -> list[Element]:
    if layout is not None:
        return [Element.of(row) for row in layout]
    return [] if source is None else _PARSERS[format_](source, start or 0)


def _elements(found: list[Element]) -> pa.Array:
    columns = dict(zip(Element._fields, zip(*found, strict=True), strict=True)) if found else {}
    arrays = [
        pa.array(columns.get(OURS.get(field.name, field.name), ()), field.type) for field in ELEMENT
    ]
    return pa.StructArray.from_arrays(arrays, fields=list(ELEMENT))
