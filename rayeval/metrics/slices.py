"""Which questions share the same slices."""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from rayeval.columns import Ints, combined


def slice_sets(column: pa.ChunkedArray | pa.Array) -> tuple[list[tuple[str, ...]], Ints]:
    """The distinct sets of names in a column of lists of text, and the set of every row.

    Each set is sorted, and so are the sets; order and repetition in a list don't matter.
    """
    names = pl.DataFrame({"set": pl.Series(combined(column))})
    names = names.select(pl.col("set").fill_null([]).list.unique().list.sort())
    sets = names.unique().sort("set")
    rows = names.join(sets.with_row_index("code"), on="set", how="left", maintain_order="left")
    return [tuple(one) for one in sets["set"].to_list()], rows["code"].cast(pl.Int64).to_numpy()
