"""A chunk's text joined with that of the chunk before and after it."""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Ints, flatten, lists
from rayeval.tables import TEXT, TEXTS

NEIGHBOUR = pa.struct([("chunk_id", TEXT), ("text", TEXT), ("joined", TEXTS), ("beside", TEXTS)])
"""A chunk; `joined`: its text with the one before it and the one after; `beside`: their ids."""


class Neighbours:
    """A shard's chunks in the order of their documents.

    chunks: with `chunk_id`, `source_id`, `revision_id`, `spans` and `text`; a document's chunks
    are all here.
    """

    def __init__(self, chunks: pa.Table) -> None:
        self._chunks = chunks
        owner, spans = flatten(chunks["spans"])
        starts, ends = (np.asarray(field, np.int64) for field in spans.flatten())
        first = np.searchsorted(owner, np.arange(chunks.num_rows))
        last = np.searchsorted(owner, np.arange(chunks.num_rows), side="right") - 1
        lengths = np.asarray(pc.utf8_length(chunks["text"]), np.int64)
        self._starts, self._ends = starts[first], ends[last]
        self._verbatim = (first == last) & (self._ends - self._starts == lengths)
        self._before, self._after = self._order()

    def around(self, places: Ints) -> pa.Array:
        """The chunks at `places`, as NEIGHBOUR, joined with what there is before and after."""
        pairs = np.concatenate(
            (
                np.stack((self._before[places], places), axis=1),
                np.stack((places, self._after[places]), axis=1),
            )
        )
        owner = np.tile(np.arange(len(places)), 2)
        order = np.argsort(owner, kind="stable")
        pairs, owner = pairs[order], owner[order]
        both = (pairs >= 0).all(axis=1)
        pairs, owner = pairs[both], owner[both]
        ids = self._chunks["chunk_id"].combine_chunks()
        other = np.where(pairs[:, 0] == places[owner], pairs[:, 1], pairs[:, 0])
        arrays = [
            ids.take(pa.array(places)),
            self._chunks["text"].combine_chunks().take(pa.array(places)),
            lists(owner, self._joined(*pairs.T), len(places)),
            lists(owner, ids.take(pa.array(other)), len(places)),
        ]
        return pa.StructArray.from_arrays(arrays, fields=list(NEIGHBOUR))

    def _joined(self, left: Ints, right: Ints) -> pa.Array:
        """Texts that follow each other in the source, without losing or repeating a character.

        Where their spans overlap, what the left one has is cut from the right one, if both are
        exactly their source; chunks apart, or that can't be aligned, are joined by a line end.
        """
        common = self._ends[left] - self._starts[right]
        aligned = (common == 0) | ((common > 0) & self._verbatim[left] & self._verbatim[right])
        texts = pl.DataFrame(
            {
                "left": pl.Series(self._chunks["text"].take(pa.array(left))),
                "separator": np.where(aligned, "", "\n"),
                "right": pl.Series(self._chunks["text"].take(pa.array(right))),
                "cut": np.where(aligned, common, 0),
            }
        )
        right_text = pl.col("right").str.slice(pl.col("cut"))
        joined = texts.select(pl.concat_str("left", "separator", right_text)).to_series()
        return joined.to_arrow().cast(TEXT)

    def _order(self) -> tuple[Ints, Ints]:
        """The chunk before and after each one in its document; -1 where there is none."""
        frame = pl.DataFrame(self._chunks.select(["source_id", "revision_id", "chunk_id"]))
        document = ["source_id", "revision_id"]
        ordered = (
            frame.with_columns(start=self._starts, end=self._ends)
            .with_row_index("place")
            .sort(*document, "start", "end", "chunk_id")
            .select(
                pl.col("place").cast(pl.Int64),
                before=pl.col("place").cast(pl.Int64).shift(1).over(document),
                after=pl.col("place").cast(pl.Int64).shift(-1).over(document),
            )
            .fill_null(-1)
            .sort("place")
        )
        return ordered["before"].to_numpy(), ordered["after"].to_numpy()
