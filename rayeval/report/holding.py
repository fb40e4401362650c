"""Which chunks hold which quotes, where no document says where one of them stands (DESIGN §3).

A run scored without a corpus has texts as hits and quotes as gold: a hit is judged when its text
contains a quote, by the same rule as when the run was scored.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Ints, flatten, lists
from rayeval.metrics.evidence import Evidence, bools, evidence_of, ints
from rayeval.metrics.foreign.quotes import containing, quotes_of
from rayeval.metrics.relevance import HOLDS
from rayeval.metrics.spans import Bools
from rayeval.report.tables import Tables

Held = tuple[Ints, Ints]
"""(which of the pairs of row and chunk, which of the evidence)."""
TEXTS = ("chunk_id", "text", "stands")


def open_pairs(row: Ints, chunk: Ints, chunks: pa.StructArray, evidence: Evidence) -> Bools:
    """(n_pairs,): the chunk may hold a quote though one of the two is located nowhere.

    row, chunk: (n_pairs,), chunk is a place in `chunks` (PLACE).
    """
    spans = ints(pc.list_value_length(evidence.items.field("spans")), 0)
    quoted = bools(evidence.items.field("quote").is_valid(), False)
    nowhere = evidence.row[quoted & (spans == 0)]
    free = np.asarray(chunks.field("spans").is_null())
    found: Bools = np.isin(row, nowhere) if len(nowhere) else np.zeros(len(row), bool)
    if free.any():
        found |= free[chunk] & np.isin(row, evidence.row[quoted])
    return found


def held(row: Ints, chunk: Ints, chunks: pa.StructArray, evidence: Evidence, run: Tables) -> Held:
    """The pairs of a question's row and a chunk, and the evidence whose quote the chunk contains.

    row, chunk: (n_pairs,), such as `open_pairs` has. chunks: PLACE; the run knows their texts.
    """
    if not len(row):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    placed = pl.DataFrame(
        {
            "chunk": np.arange(len(chunks)),
            "chunk_id": pl.Series(chunks.field("chunk_id"), dtype=pl.String),
            "of": pl.Series(chunks.field("source_id"), dtype=pl.String),
            "spanned": pl.Series(chunks.field("spans").is_valid(), dtype=pl.Boolean),
        }
    )
    pairs = pl.DataFrame({"hit": np.arange(len(row)), "row": row, "chunk": chunk})
    pairs = pairs.join(placed, on="chunk")
    ids = pairs["chunk_id"].unique().to_list()
    known = [name for name in TEXTS if name in run.columns("passages")]  # older runs lack one
    texts = run.rows("passages", "chunk_id", ids, known).drop_nulls("text")
    if "stands" not in known:
        texts = texts.with_columns(stands=pl.lit(None, pl.List(pl.Null)))
    found = containing(pairs.join(texts, on="chunk_id"), quotes_of(evidence))
    return found["hit"].to_numpy(), found["evidence"].to_numpy()


def holds(batch: pa.Table, run: Tables) -> pa.Array:
    """The column `holds` (metrics.relevance.HOLDS) of a batch that has `passages`."""
    row, places = flatten(batch["passages"])
    evidence = evidence_of(batch["evidence"])
    passage = np.flatnonzero(open_pairs(row, np.arange(len(row)), places, evidence))
    pair, item = held(row[passage], passage, places, evidence, run)
    return as_column(row, passage[pair], evidence.row, item, batch.num_rows)


def as_column(row: Ints, passage: Ints, of: Ints, item: Ints, n: int) -> pa.Array:
    """Pairs of (passage, evidence) as numbers in their question's lists, of type HOLDS.

    row: (n_passages,), of: (n_evidence,), the question of each, ascending. n: how many there are.
    """
    at = row[passage]
    numbers = [passage - np.searchsorted(row, at), item - np.searchsorted(of, at)]
    fields = [pa.array(values.astype(np.int32)) for values in numbers]
    return lists(at, pa.StructArray.from_arrays(fields, fields=list(HOLDS.value_type)), n)
