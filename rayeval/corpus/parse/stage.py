"""The stage: DOCUMENTS to PARSED."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa

from rayeval.columns import lists
from rayeval.corpus.config import Parse
from rayeval.corpus.parse import html, markdown, text
from rayeval.corpus.parse.element import Element
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
        documents = zip(
            *(batch[name].to_pylist() for name in ("text", "format", "text_start")), strict=True
        )
        found = [
            [] if source is None else _PARSERS[format_](source, start or 0)
            for source, format_, start in documents
        ]
        rows = np.repeat(np.arange(len(found)), [len(elements) for elements in found])
        flat = [element for elements in found for element in elements]
        elements = lists(rows, _elements(flat), len(found))
        columns = [batch["source_id"], batch["revision_id"], elements]
        return pa.table(columns, schema=PARSED)


def _elements(found: list[Element]) -> pa.Array:
    columns = dict(zip(Element._fields, zip(*found, strict=True), strict=True)) if found else {}
    ours = {"start_char": "start", "end_char": "end"}
    arrays = [
        pa.array(columns.get(ours.get(field.name, field.name), ()), field.type)
        if field.name != "page"
        else pa.nulls(len(found), field.type)
        for field in ELEMENT
    ]
    return pa.StructArray.from_arrays(arrays, fields=list(ELEMENT))
