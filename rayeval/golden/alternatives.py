"""Evidence put together with its spots: each is located once, nowhere, or at many places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
import pyarrow as pa

from rayeval.columns import Ints


@dataclass(frozen=True)
class Alternatives:
    """Evidence by spot, in order of question, evidence and place; all of (n_alternatives,).

    rows: its question. evidence, spot: the rows of EVIDENCE and of SPOT, null where there is none.
    copy: 0 for the first place of an evidence, 1 for the next, …
    """

    rows: Ints
    evidence: pa.StructArray
    spot: pa.StructArray
    copy: Ints


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
    return Alternatives(
        rows=pairs["row"].to_numpy(),
        evidence=evidence.take(pairs["item"].to_arrow()),
        spot=spots.take(pairs["spot"].to_arrow()),
        copy=pairs.select(pl.int_range(pl.len()).over("item")).to_series().to_numpy(),
    )
