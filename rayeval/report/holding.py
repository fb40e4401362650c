"""Which chunks hold which quotes, where no document says where either stands (DESIGN §3).

A run scored without a corpus has texts as hits and quotes as gold: a hit is judged when its text
contains a quote, as when the run was scored.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Ints, flatten, lists
from rayeval.metrics.foreign.quotes import normal
from rayeval.metrics.relevance import HOLDS
from rayeval.metrics.spans import Bools
from rayeval.report.tables import Tables

Held = tuple[Ints, Ints]
"""(which of the pairs of row and chunk, which of the evidence)."""


def open_pairs(row: Ints, chunk: Ints, chunks: pa.StructArray, evidence: pa.Table) -> Bools:
    """(n_pairs,): the chunk may hold a quote though one of the two is located nowhere.

    row, chunk: (n_pairs,), chunk is a place in `chunks` (PLACE). evidence: as `evidence_rows`.
    """
    spans = pc.fill_null(pc.list_value_length(evidence["spans"]), 0)
    quoted = np.asarray(evidence["quote"].is_valid())
    rows = evidence["row"].to_numpy()
    nowhere = rows[quoted & (np.asarray(spans) == 0)]
    free = np.asarray(chunks.field("spans").is_null())
    found: Bools = np.isin(row, nowhere) if len(nowhere) else np.zeros(len(row), bool)
    if free.any():
        found |= free[chunk] & np.isin(row, rows[quoted])
    return found


def held(row: Ints, chunk: Ints, chunks: pa.StructArray, evidence: pa.Table, run: Tables) -> Held:
    """The pairs of a question's row and a chunk, and the evidence whose quote the chunk contains.

    row, chunk: (n_pairs,), such as `open_pairs` has. chunks: PLACE; the run knows their texts.
    Pairs of which both say where they stand are none, nor those of different sources.
    """
    if not len(row):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    quotes = pl.DataFrame(evidence.rename_columns(["row", "quote", "source", "gold"]))
    quotes = quotes.with_row_index("evidence").drop_nulls("quote").with_columns(normal("quote"))
    placed = pl.DataFrame(
        {
            "chunk": np.arange(len(chunks)),
            "chunk_id": pl.Series(chunks.field("chunk_id"), dtype=pl.String),
            "of": pl.Series(chunks.field("source_id"), dtype=pl.String),
            "spanned": pl.Series(chunks.field("spans").is_valid(), dtype=pl.Boolean),
        }
    )
    pairs = pl.DataFrame({"pair": np.arange(len(row)), "row": row, "chunk": chunk})
    pairs = pairs.join(placed, on="chunk").join(quotes.filter(pl.col("quote") != ""), on="row")
    pairs = pairs.filter(
        ~(pl.col("spanned") & (pl.col("gold").list.len() > 0)),
        (pl.col("of") == pl.col("source")).fill_null(True),
    )
    ids = pairs["chunk_id"].unique().to_list()
    texts = run.rows("passages", "chunk_id", ids, ["chunk_id", "text"]).drop_nulls("text")
    pairs = pairs.join(texts.with_columns(normal("text")), on="chunk_id")
    found = pairs.filter(pl.col("text").str.contains(pl.col("quote"), literal=True))
    found = found.sort("pair", "evidence")
    return found["pair"].to_numpy(), found["evidence"].cast(pl.Int64).to_numpy()


def evidence_rows(table: pa.Table) -> pa.Table:
    """Every piece of evidence of a batch with the `row` that it is of."""
    row, items = flatten(table["evidence"])
    names = ["quote", "source_id", "spans"]
    return pa.table({"row": row, **{name: items.field(name) for name in names}})


def holds(batch: pa.Table, run: Tables) -> pa.Array:
    """The column `holds` (metrics.relevance.HOLDS) of a batch that has `passages`."""
    row, places = flatten(batch["passages"])
    evidence = evidence_rows(batch)
    passage = np.flatnonzero(open_pairs(row, np.arange(len(row)), places, evidence))
    pair, item = held(row[passage], passage, places, evidence, run)
    return as_column(row, passage[pair], evidence["row"].to_numpy(), item, batch.num_rows)


def as_column(row: Ints, passage: Ints, of: Ints, item: Ints, n: int) -> pa.Array:
    """Pairs of (passage, evidence) as numbers in their question's lists, of type HOLDS.

    row: (n_passages,), of: (n_evidence,), the question of each, ascending. n: how many there are.
    """
    at = row[passage]
    numbers = [passage - np.searchsorted(row, at), item - np.searchsorted(of, at)]
    fields = [pa.array(values.astype(np.int32)) for values in numbers]
    return lists(at, pa.StructArray.from_arrays(fields, fields=list(HOLDS.value_type)), n)
