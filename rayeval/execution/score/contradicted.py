"""What a score says of places that the documents contradict, and of sources that they are not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

import polars as pl
import pyarrow as pa

from rayeval.columns import combined
from rayeval.execution.score.said import NAMED, listed
from rayeval.stated import shown
from rayeval.words import plural, verb

WRONG = {
    "text": "the documents have another text there; it counts as lying where its own is found, if "
    "it is",
    "place": "beyond the end of the document, or of no length, and without a text to look for: no "
    "gold is found there",
    "revision": "of a revision that the corpus lacks, so no gold is found there; leave out "
    "`revision_id` for the current one",
}
"""What is wrong with a place, by MISPLACED's `fault`."""


def contradicted(misplaced: pa.Table, stated: int) -> Iterator[str]:
    """Warnings of places that are wrong.

    misplaced: registry.claims.MISPLACED. stated: how many places hits and chunks state.
    """
    frame = pl.DataFrame(pl.from_arrow(misplaced.select(["fault", "unit"])))
    frame = frame.with_columns(place=_places(misplaced))
    for fault, what in WRONG.items():
        found = frame.filter(fault=fault)
        if found.height:
            named = listed(found["place"])
            yield (
                f"{found.height:,} of {plural(stated, 'place')} of hits or chunks ({named}): "
                f"{what}{_unit(found)}"
            )


def unknown_sources(misplaced: pa.Table, corpus: pl.Series) -> str | None:
    """What to say of the sources of hits and chunks that the corpus lacks; None: it lacks none.

    corpus: the ids of its sources.
    """
    frame = pl.DataFrame(pl.from_arrow(misplaced.select(["source_id", "fault"])))
    lost = frame.filter(fault="source")["source_id"].unique().sort()
    if lost.is_empty():
        return None
    return (
        f"{plural(len(lost), 'source')} of hits or chunks {verb(len(lost), 'is', 'are')} not in "
        f"the corpus, so nothing is found there: {listed(lost)}. The corpus has "
        f"{_near(lost, corpus) or listed(corpus.sort())}: call them so"
    )


def _places(misplaced: pa.Table) -> pl.Series:
    """`en.md@v2[0,12)`, as messages name them."""
    columns = {name: pl.Series(misplaced[name]) for name in ("source_id", "revision_id")}
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    spans = pl.Series("spans", shown(combined(misplaced["spans"])), dtype=pl.String)
    revision = pl.format("@{}", "revision_id").fill_null("")
    revision = (
        pl.when(pl.Series(misplaced["fault"]) == "revision").then(revision).otherwise(pl.lit(""))
    )
    return frame.select(pl.concat_str("source_id", revision, spans.fill_null(""))).to_series()


def _unit(found: pl.DataFrame) -> str:
    """What the offsets may be counted in."""
    units = found["unit"].drop_nulls().unique().sort().to_list()
    if not units:
        return ""
    fit = f"the numbers fit as {' or '.join(units)}"
    return f". Offsets are code points, and {fit}: convert them"


def _near(lost: pl.Series, corpus: pl.Series) -> str:
    """Documents that are called so but for their folder."""
    known = set(corpus.to_list())
    last = [PurePosixPath(name.replace("\\", "/")).name for name in lost.head(NAMED)]
    return ", ".join(name for name in last if name in known)
