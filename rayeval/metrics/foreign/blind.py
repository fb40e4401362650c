"""Gold and hits that can't be compared, where no document says where either stands."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow.compute as pc

from rayeval.columns import Ints
from rayeval.metrics.evidence import Evidence, bools
from rayeval.metrics.foreign.hits import Hits
from rayeval.metrics.foreign.places import Known, Places
from rayeval.metrics.spans import Bools

FLAGS = ("incomparable", "partial", "unread", "by_id", "touched", "repeated", "uncounted")
"""Text that nobody located meets gold that has no quote; spans meet gold of unknown length (all of
a document, or an element of it); gold that is a quote alone meets hits without text; hits are named
by ids alone, which must then be documents; a hit is of a source that the question has evidence
in; a list has the same passage twice; hits have no text whose tokens could be counted."""


def marked(row: Ints, n: int) -> Bools:
    """(n,): which rows are among `row`."""
    flags = np.zeros(n, bool)
    flags[row] = True
    return flags


def blind(
    passages: Hits, where: Places, evidence: Evidence, n: int, known: Known
) -> dict[str, Bools]:
    """(n,) each: the flags of gold and hits that can't be compared; with documents there are
    none."""
    ways = {"incomparable": incomparable, "partial": partial, "unread": unread}
    if known.documents is not None:
        return {name: np.zeros(n, bool) for name in ways}
    return {name: way(passages, where, evidence, n) for name, way in ways.items()}


def incomparable(passages: Hits, where: Places, evidence: Evidence, n: int) -> Bools:
    """(n,): gold without a quote may stand in a hit that is text alone.

    A text of no source may hold any of it; one of a source what is of that source.
    """
    quoteless = evidence.gold & bools(evidence.items.field("quote").is_null(), True)
    texts = bools(where.spans.is_null(), False)
    anywhere = texts & bools(where.source.is_null(), False)
    rows = marked(evidence.row[quoteless], n) & marked(passages.row[anywhere], n)
    return rows | _same(passages, where, texts, evidence, quoteless, n)


def partial(passages: Hits, where: Places, evidence: Evidence, n: int) -> Bools:
    """(n,): a hit is a part of a source of which gold is all, or an element: how much of that it
    holds, nobody knows."""
    size = pc.fill_null(pc.list_value_length(evidence.items.field("spans")), 0)
    quoteless = evidence.gold & bools(evidence.items.field("quote").is_null(), True)
    unmeasured = quoteless & bools(pc.equal(size, 0), False)
    spanned = bools(pc.greater(pc.list_value_length(where.spans), 0), False)
    return _same(passages, where, spanned, evidence, unmeasured, n)


def _same(
    passages: Hits, where: Places, hits: Bools, evidence: Evidence, gold: Bools, n: int
) -> Bools:
    """(n,): one of `hits` is of the source of one of `gold`."""
    if not hits.any() or not gold.any():
        return np.zeros(n, bool)
    of_gold = pl.Series(evidence.items.field("source_id"), dtype=pl.String)
    wanted = pl.DataFrame({"row": evidence.row, "source": of_gold}).filter(gold)
    found = pl.DataFrame({"row": passages.row, "source": pl.Series(where.source, dtype=pl.String)})
    met = found.filter(hits).join(wanted, on=["row", "source"], how="semi")
    return marked(met["row"].to_numpy(), n)


def quotes(evidence: Evidence) -> Bools:
    """Gold that is a quote which nobody located."""
    spans = pc.fill_null(pc.list_value_length(evidence.items.field("spans")), 0)
    quoted = evidence.gold & ~evidence.missing & bools(pc.equal(spans, 0), False)
    return quoted & bools(evidence.items.field("quote").is_valid(), False)


def unread(passages: Hits, where: Places, evidence: Evidence, n: int) -> Bools:
    """(n,): a quote that nobody located may stand in a hit that doesn't show its text.

    A quote of no source may stand in any; one of a source in the spans of that source.
    """
    quoted = quotes(evidence)
    if not quoted.any():
        return np.zeros(n, bool)
    wordless = bools(passages.field("text").is_null(), True)
    spanned = wordless & bools(pc.greater(pc.list_value_length(where.spans), 0), False)
    of_gold = evidence.items.field("source_id")
    anywhere = quoted & bools(of_gold.is_null(), False)
    gold = pl.DataFrame({"row": evidence.row, "source": pl.Series(of_gold, dtype=pl.String)})
    hits = pl.DataFrame({"row": passages.row, "source": pl.Series(where.source, dtype=pl.String)})
    same = hits.filter(spanned).join(gold.filter(quoted), on=["row", "source"], how="semi")
    sourceless = marked(evidence.row[anywhere], n) & marked(passages.row[wordless], n)
    return sourceless | marked(same["row"].to_numpy(), n)
