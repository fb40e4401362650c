"""Which hits contain which quotes, where no document says where either stands (DESIGN §3)."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

from rayeval.columns import Ints
from rayeval.metrics.evidence import Evidence
from rayeval.metrics.foreign.hits import Hits, text


def held(hits: Hits, sources: pa.Array, evidence: Evidence) -> tuple[Ints, Ints]:
    """(hit, evidence) wherever the hit's text contains the evidence's quote.

    Both are read in NFC, white space as single spaces. Pairs that name different sources are none,
    nor those of which both say where they stand. sources: (n_hits,), null where none is named.
    """
    nothing = np.zeros(0, np.int64)
    if not hits.has("text") or evidence.items.field("quote").null_count == len(evidence.row):
        return nothing, nothing
    spans = evidence.items.field("spans")
    quotes = pl.DataFrame(
        {
            "row": evidence.row,
            "evidence": np.arange(len(evidence.row)),
            "quote": pl.Series(evidence.items.field("quote")),
            "placed": pl.Series(pa.compute.greater(pa.compute.list_value_length(spans), 0)),
            "source": pl.Series(evidence.items.field("source_id")),
        }
    ).drop_nulls("quote")
    texts = pl.DataFrame(
        {
            "row": hits.row,
            "hit": np.arange(len(hits.list)),
            "text": pl.Series(hits.field("text")),
            "spanned": pl.Series(hits.field("spans").is_valid()),
            "of": pl.Series(text(sources)),
        }
    ).drop_nulls("text")
    texts = texts.filter(pl.col("row").is_in(quotes["row"].unique().implode()))
    texts = texts.with_columns(normal("text"))
    pairs = texts.join(quotes.with_columns(normal("quote")).filter(pl.col("quote") != ""), on="row")
    pairs = pairs.filter(
        ~(pl.col("placed").fill_null(False) & pl.col("spanned")),
        (pl.col("of") == pl.col("source")).fill_null(True),
        pl.col("text").str.contains(pl.col("quote"), literal=True),
    ).sort("hit", "evidence")
    return pairs["hit"].to_numpy(), pairs["evidence"].to_numpy()


def normal(name: str) -> pl.Expr:
    """NFC, white space trimmed and each run of it one space."""
    return pl.col(name).str.normalize("NFC").str.replace_all(r"\s+", " ").str.strip_chars()
