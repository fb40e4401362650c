"""Which passage a hit is, whatever its id: two runs may call different passages `doc#1`."""

from __future__ import annotations

import polars as pl

from rayeval.report.tables import Tables

STANDS = ("source_id", "revision_id", "spans")
"""What says where a passage lies."""


def identities(passages: pl.DataFrame, run: Tables) -> pl.Series:
    """(n_passages,), numbers that are equal where the passages are, within a run and across runs.

    passages: `chunk_id` and STANDS, in which null `spans` are text that nobody located.
    A passage is its place in a revision of a source; without one it is its text, which the run
    knows; without both it is all of its source. One that only has an id is what it is called.
    """
    known = passages.select("chunk_id", *STANDS).join(
        _texts(passages.filter(pl.col("spans").is_null()), run),
        on="chunk_id",
        how="left",
        maintain_order="left",
    )
    ends = (pl.element().struct.field(name).cast(pl.String) for name in ("start_char", "end_char"))
    place = pl.col("spans").list.eval(pl.concat_str(*ends, separator="-")).list.join(",")
    located = pl.col("spans").is_not_null()
    said = pl.when(~located).then("said").fill_null("")
    nameless = pl.col("source_id").is_null() & (said == "")
    parts = [
        pl.col("source_id").fill_null(""),
        pl.col("revision_id").fill_null(""),
        place.fill_null(""),
        said,
        pl.when(nameless).then("chunk_id").fill_null(""),
    ]
    return known.select(passage=pl.concat_str(*parts, separator="\0").hash())["passage"]


def _texts(passages: pl.DataFrame, run: Tables) -> pl.DataFrame:
    """`chunk_id, said` of passages that are known by their text."""
    ids = passages["chunk_id"].unique().to_list()
    if not ids:
        return pl.DataFrame(schema={"chunk_id": pl.String, "said": pl.String})
    found = run.rows("passages", "chunk_id", ids, ["chunk_id", "text"])
    return found.unique("chunk_id").rename({"text": "said"})
