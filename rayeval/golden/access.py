"""Which evidence an asker may see."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

from rayeval.columns import Ints, flatten
from rayeval.golden.slices import Bools

KEY = ["source_id", "revision_id"]


class Access:
    """The access lists of a catalogue; a document without one, or unknown, is everyone's."""

    def __init__(self, catalogue: pa.Table) -> None:
        listed = pl.DataFrame(pl.from_arrow(catalogue.select([*KEY, "access"])))
        self._listed = listed.filter(pl.col("access").list.len() > 0)

    def visible(self, rows: Ints, keys: pa.Table, principals: pa.ChunkedArray) -> Bools:
        """(n_evidence,), whether its question's asker is on its document's list.

        rows: (n_evidence,), the question of each. keys: their KEY columns.
        principals: (n_questions,), a list of text.
        """
        wanted = pl.DataFrame(pl.from_arrow(keys)).with_columns(row=rows).with_row_index("item")
        listed = wanted.join(self._listed, on=KEY).explode("access")
        askers, names = flatten(principals)
        asking = pl.DataFrame({"row": askers, "access": pl.Series(names, dtype=pl.String)})
        seen = np.ones(len(rows), dtype=bool)
        seen[listed["item"].to_numpy()] = False
        seen[listed.join(asking, on=["row", "access"], how="semi")["item"].to_numpy()] = True
        return seen
