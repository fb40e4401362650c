"""What every list of hits must be: no chunk twice, every score a finite number."""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from rayeval.columns import flatten
from rayeval.tables import HITS


def unsound(table: pa.Table) -> dict[int, str]:
    """Row → what is wrong with its hits; nothing for a table without hits."""
    if "hits" not in table.column_names or table.schema.field("hits").type != HITS:
        return {}
    rows, hits = flatten(table["hits"])
    frame = pl.DataFrame(
        {
            "row": rows,
            "chunk_id": pl.Series(hits.field("chunk_id"), dtype=pl.String),
            "score": pl.Series(hits.field("score"), dtype=pl.Float64),
        }
    )
    twice = frame.filter(pl.struct("row", "chunk_id").is_duplicated())
    lost = frame.filter(~pl.col("score").is_finite().fill_null(False))
    found = {
        row: f"the score of chunk {chunk} is not a finite number"
        for row, chunk in lost.select("row", "chunk_id").iter_rows()
    }
    for row, chunk in twice.select("row", "chunk_id").iter_rows():
        found[row] = f"the hits hold chunk {chunk} more than once"
    return found
