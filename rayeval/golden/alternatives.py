"""Evidence put together with its spots: each is located once, nowhere, or at many places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa

from rayeval.columns import Ints
from rayeval.golden.locate import MOST_PLACES
from rayeval.golden.slices import Bools


@dataclass(frozen=True)
class Alternatives:
    """Evidence by spot, in order of question, evidence and place; all of (n_alternatives,).

    rows: its question. evidence, spot: the rows of EVIDENCE and of SPOT, null where there is none.
    copy: 0 for the first place of an evidence, 1 for the next, …
    common: the quote stands at too many places to say where.
    """

    rows: Ints
    evidence: pa.StructArray
    spot: pa.StructArray
    copy: Ints
    common: Bools


def alternatives(
    rows: Ints, evidence: pa.StructArray, spot_rows: Ints, spots: pa.StructArray
) -> Alternatives:
    """Each evidence with its spots; where it stands exactly, the other spots don't count.

    rows, evidence: (n_evidence,), sorted by question. spot_rows, spots: (n_spots,), as located.
    """
    number = np.arange(len(rows)) - np.searchsorted(rows, rows)
    items = pl.DataFrame({"row": rows, "number": number}).with_row_index("item")
    fields = pa.table({name: spots.field(name) for name in ("number", "exact")})
    found = pl.DataFrame(pl.from_arrow(fields)).with_columns(row=spot_rows).with_row_index("spot")
    best = found.filter(pl.col("exact") == pl.col("exact").any().over("row", "number"))
    pairs = items.join(best, on=["row", "number"], how="left").sort("item", "spot")
    copy = pl.int_range(pl.len()).over("item")
    pairs = pairs.with_columns(copy=copy, common=pl.len().over("item") > MOST_PLACES)
    pairs = pairs.filter(~pl.col("common") | (pl.col("copy") == 0))
    at = pl.when(~pl.col("common")).then("spot")
    return Alternatives(
        rows=pairs["row"].to_numpy(),
        evidence=evidence.take(pairs["item"].to_arrow()),
        spot=spots.take(pairs.select(at)["spot"].to_arrow()),
        copy=pairs["copy"].to_numpy(),
        common=pairs["common"].to_numpy(),
    )
