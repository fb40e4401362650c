"""The stage: documents with their elements to CHUNKS."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from rayeval.chunk import fixed, structure, tokens
from rayeval.chunk.boundaries import boundaries
from rayeval.chunk.characters import word_starts
from rayeval.chunk.config import Fixed, Structure, Unit
from rayeval.chunk.tokens import HuggingFace, Tokens, Words
from rayeval.chunk.units import Units
from rayeval.chunk.view import Elements, Names, View, documents, rendered, verbatim
from rayeval.columns import Ints, lists
from rayeval.ids import chunk_id
from rayeval.stage import Stage
from rayeval.tables import CHUNKS, SPAN, TEXT, conform

Cut = Callable[[View, Units], tuple[Ints, Ints]]


def build(config: Fixed | Structure, tokenizer: Words | HuggingFace) -> Stage:
    """The chunker that `config` describes, counting with `tokenizer`."""
    size, overlap = config.size, config.overlap

    def windows(view: View, units: Units) -> tuple[Ints, Ints]:
        return fixed.spans(units, view.filled, size=size, overlap=overlap)

    def sections(view: View, units: Units) -> tuple[Ints, Ints]:
        return structure.spans(units, view.filled, boundaries(view), size=size, overlap=overlap)

    cut = windows if isinstance(config, Fixed) else sections
    return Chunker(cut, config.unit, tokens.build(tokenizer))


class Chunker:
    """Cuts documents: each row gives any number of chunks, in document order."""

    def __init__(self, cut: Cut, unit: Unit, counter: Tokens) -> None:
        self._cut = cut
        self._unit = unit
        self._counter = counter

    def __call__(self, batch: pa.Table) -> pa.Table:
        """DOCUMENTS with a column `elements` (as in PARSED) to CHUNKS; a tombstone gives none."""
        texts, starts = batch["text"].to_pylist(), batch["text_start"].to_pylist()
        found = [
            self._chunks(i, _view(text, start or 0, elements))
            for i, (text, start, elements) in enumerate(
                zip(texts, starts, documents(batch["elements"]), strict=True)
            )
            if text is not None and len(elements.starts)
        ]
        return self._table(batch, [_Found.none(), *found])

    def _chunks(self, row: int, view: View) -> _Found:
        starts, ends = self._cut(view, self._units(view))
        edges = zip(starts.tolist(), ends.tolist(), strict=True)
        counts, inside = view.within(starts, ends)
        n_pages, pages = view.pages(starts, ends)
        return _Found(
            row=np.full(len(starts), row),
            start=view.char_starts[starts],
            end=view.char_ends[ends - 1],
            text=np.array([view.text[start:end] for start, end in edges], dtype=object),
            n_elements=counts,
            element=view.elements.names[inside],
            n_pages=n_pages,
            page=pages,
        )

    def _units(self, view: View) -> Units:
        starts = None
        if self._unit == "words":
            starts = word_starts(view.classes)
        elif self._unit == "tokens":
            starts = self._counter.starts(view.text)
        return Units(len(view.text), starts)

    def _table(self, batch: pa.Table, found: list[_Found]) -> pa.Table:
        row, start, end, text, n_elements, element, n_pages, page = map(
            np.concatenate, zip(*found, strict=True)
        )
        each = np.arange(len(row))
        texts = pa.array(text, TEXT)
        places = pa.StructArray.from_arrays([start, end], fields=list(SPAN))
        copied = {n: batch[n].take(row) for n in ("source_id", "revision_id", "access")}
        keys = zip(*(copied[n].to_pylist() for n in ("source_id", "revision_id")), strict=True)
        spans = zip(start.tolist(), end.tolist(), strict=True)
        named = zip(keys, spans, text, strict=True)
        columns = {
            **copied,
            "chunk_id": pa.array((chunk_id(*key, [span], said) for key, span, said in named), TEXT),
            "spans": lists(each, places, len(row)),
            "text": texts,
            "element_ids": lists(np.repeat(each, n_elements), pa.array(element, TEXT), len(row)),
            "pages": lists(np.repeat(each, n_pages), pa.array(page), len(row)),
            "tokens": self._counter.counts(texts),
        }
        return conform(pa.table(columns), CHUNKS)


class _Found(NamedTuple):
    """A document's chunks, (n_chunks,) each, and what is in them: elements, (sum of n_elements,),
    and pages, (sum of n_pages,)."""

    row: Ints
    start: Ints
    end: Ints
    text: Names
    n_elements: Ints
    element: Names
    n_pages: Ints
    page: Ints

    @classmethod
    def none(cls) -> _Found:
        """No chunks."""
        ints, names = np.empty(0, dtype=np.int64), np.empty(0, dtype=object)
        return cls(ints, ints, ints, names, ints, names, ints, ints)


def _view(text: str, start: int, elements: Elements) -> View:
    is_rendered = elements.texts[0] is not None
    return rendered(elements) if is_rendered else verbatim(text, start, elements)
