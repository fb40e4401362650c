"""Chunks → their terms and counts → the statistics of the whole corpus."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Ints, combined, flatten, lists
from rayeval.retrieve.lexical.analyzers import Analyzer, build
from rayeval.tables import TEXT, TEXTS

TERMS = pa.schema(
    [
        ("chunk_id", TEXT),
        ("terms", TEXTS),  # distinct, in code point order
        ("counts", pa.list_(pa.int32())),  # how often each occurs
        ("length", pa.int64()),  # terms in the chunk, repeats included
    ]
)

STATISTICS = pa.schema([("term", TEXT), ("chunks", pa.int64()), ("occurrences", pa.int64())])
"""How many chunks hold a term and how often it occurs, by term. The first row, whose term is null,
counts everything: all chunks, all occurrences. Two corpora's statistics add up row by row."""


class TermCounts:
    """The terms of every chunk: CHUNKS → TERMS, row for row."""

    def __init__(self, config: Analyzer) -> None:
        self.analysis = build(config)

    def __call__(self, batch: pa.Table) -> pa.Table:
        """Texts are analysed one by one, so a row owes nothing to its batch."""
        return count_terms(batch["chunk_id"], self.analysis.terms(combined(batch["text"])))


def count_terms(chunk_ids: pa.ChunkedArray, terms: pa.ListArray) -> pa.Table:
    """TERMS of chunks whose terms are given in any order, with repeats."""
    rows, items = flatten(terms)
    vocabulary, codes = encode(items)
    distinct, counts = np.unique(rows * len(vocabulary) + codes, return_counts=True)
    row, code = np.divmod(distinct, len(vocabulary))
    columns = [
        chunk_ids,
        lists(row, vocabulary.take(pa.array(code)), len(terms)),
        lists(row, pa.array(counts.astype(np.int32)), len(terms)),
        np.bincount(rows, minlength=len(terms)),
    ]
    return pa.table(columns, schema=TERMS)


def encode(terms: pa.Array) -> tuple[pa.Array, Ints]:
    """(distinct terms in code point order, the place there of every one in `terms`)."""
    encoded = terms.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary)
    places = np.argsort(order.to_numpy())
    return encoded.dictionary.take(order), places[encoded.indices.to_numpy()]


def statistics(parts: Iterable[pa.Table]) -> pa.Table:
    """STATISTICS of the chunks in `parts`, which are tables of TERMS."""
    return add_statistics(_count(part) for part in parts)


def add_statistics(parts: Iterable[pa.Table]) -> pa.Table:
    """The STATISTICS of several corpora (shards, partitions) as one; associative, in any order."""
    every = pl.DataFrame(pa.concat_tables([_NOTHING, *parts]))
    summed = every.group_by("term").sum().sort("term", nulls_last=False)
    return summed.to_arrow().cast(STATISTICS)


_NOTHING = pa.table([[None], [0], [0]], schema=STATISTICS)


def _count(part: pa.Table) -> pa.Table:
    _, terms = flatten(part["terms"])
    _, counts = flatten(part["counts"])
    held = pl.DataFrame({"term": pl.Series(terms), "occurrences": pl.Series(counts)})
    by_term = held.group_by("term").agg(
        pl.len().cast(pl.Int64).alias("chunks"), pl.col("occurrences").cast(pl.Int64).sum()
    )
    length = pc.sum(part["length"], min_count=0).as_py()
    total = pa.table([[None], [part.num_rows], [length]], schema=STATISTICS)
    return pa.concat_tables([total, by_term.to_arrow().cast(STATISTICS)])
