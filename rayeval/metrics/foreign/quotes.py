"""Which hits contain which quotes, where no document says where one of them stands (DESIGN §3).

Where both are located their spans alone decide. A text that stands at several places holds gold
that is located only if each of these places does: which one was found, nobody knows (DESIGN §4).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pyarrow as pa

from rayeval.columns import Ints
from rayeval.metrics.evidence import Evidence
from rayeval.metrics.foreign.hits import Hits, text
from rayeval.metrics.foreign.places import Lookup
from rayeval.tables import STANDS

PLACE = ["source_id", "revision_id"]


def held(
    hits: Hits, sources: pa.Array, found: Sequence[Lookup], evidence: Evidence
) -> tuple[Ints, Ints]:
    """(hit, evidence) wherever the hit's text, and nothing else, says that it holds the evidence.

    sources: (n_hits,), null where none is known. found: what tables say of the hits.
    """
    nothing = np.zeros(0, np.int64)
    if not hits.has("text") or evidence.items.field("quote").null_count == len(evidence.row):
        return nothing, nothing
    asked = np.isin(hits.row, evidence.row) & np.asarray(hits.field("text").is_valid())
    which = np.flatnonzero(asked)
    at = pa.array(which)
    spanned = np.asarray(hits.field("spans").is_valid())[which]
    stands = pa.nulls(len(which), STANDS)
    for table, rows in found:
        spanned |= np.asarray(table.take("spans", rows[which]).is_valid())
        own = table.take("stands", rows[which])
        stands = own if stands.null_count == len(stands) else pa.compute.coalesce(stands, own)
    texts = pl.DataFrame(
        {
            "row": hits.row[which],
            "hit": which,
            "text": pl.Series(hits.field("text").take(at)),
            "of": pl.Series(text(sources.take(at)), dtype=pl.String),
            "spanned": spanned,
            "stands": pl.Series(stands),
        }
    )
    pairs = containing(texts, quotes_of(evidence))
    return pairs["hit"].to_numpy(), pairs["evidence"].to_numpy()


def quotes_of(evidence: Evidence) -> pl.DataFrame:
    """A row per evidence that has a quote: what it is, and where it stands, if anybody knows."""
    items = evidence.items
    frame = pl.DataFrame(
        {
            "row": evidence.row,
            "evidence": np.arange(len(evidence.row)),
            "group": evidence.group,
            "grade": evidence.grade,
            "quote": pl.Series(items.field("quote"), dtype=pl.String),
            **{name: pl.Series(items.field(name), dtype=pl.String) for name in PLACE},
            "spans": pl.Series(items.field("spans")),
        }
    ).drop_nulls("quote")
    span = pl.col("spans").list
    frame = frame.with_columns(
        normal("quote"),
        first=span.first().struct.field("start_char"),
        last=span.last().struct.field("end_char"),
    )
    return frame.filter(pl.col("quote") != "").drop("spans")


def containing(texts: pl.DataFrame, quotes: pl.DataFrame) -> pl.DataFrame:
    """`hit, evidence` where the text contains the quote, and no place says that it is another one.

    Both are read in NFC, white space as single spaces. Pairs of different sources are none.
    texts: `row, hit, text, of` (its source, if known), `spanned` (it is located), `stands`.
    quotes: as `quotes_of`.
    """
    texts = texts.filter(pl.col("row").is_in(quotes["row"].unique().implode()))
    pairs = texts.with_columns(normal("text")).join(quotes, on="row")
    pairs = pairs.filter(
        ~(pl.col("first").is_not_null() & pl.col("spanned")),
        (pl.col("of") == pl.col("source_id")).fill_null(True),
        pl.col("text").str.contains(pl.col("quote"), literal=True),
    )
    unsure = pl.col("first").is_not_null() & pl.col("stands").is_not_null()
    sure = _everywhere(pairs.filter(unsure), quotes)
    names = ["hit", "evidence"]
    return pl.concat([pairs.filter(~unsure).select(names), sure.select(names)]).sort(names)


def _everywhere(pairs: pl.DataFrame, quotes: pl.DataFrame) -> pl.DataFrame:
    """Those of which every place where the text stands holds evidence of the group, as good."""
    pairs = pairs.filter(pl.col("stands").list.len() > 0)
    if pairs.is_empty():
        return pairs
    each = pairs.select("hit", "evidence", "group", "grade", "stands").explode("stands")
    each = each.unnest("stands").with_row_index("place")
    gold = quotes.select("group", "first", "last", *PLACE, other="grade")
    there = each.join(gold, on=["group", *PLACE]).filter(
        pl.col("other") >= pl.col("grade"),
        pl.col("first") >= pl.col("start_char"),
        pl.col("last") <= pl.col("end_char"),
    )
    places = there.unique("place").group_by("hit", "evidence").len("places")
    pairs = pairs.join(places, on=["hit", "evidence"])
    return pairs.filter(pl.col("places") == pl.col("stands").list.len())


def normal(name: str) -> pl.Expr:
    """NFC, white space trimmed and each run of it one space."""
    return pl.col(name).str.normalize("NFC").str.replace_all(r"\s+", " ").str.strip_chars()
