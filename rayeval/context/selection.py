"""Hits → the context: which are handed on, their tokens, and how many say nothing new."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
from pydantic import Field, PositiveInt

from rayeval.columns import Ints, flatten, lists
from rayeval.context.repeats import repeats
from rayeval.errors import RowError
from rayeval.stage import Stage, StageConfig
from rayeval.tables import FOUND, TEXT

SELECTED = pa.schema([*FOUND, ("context_tokens", pa.int64()), ("duplicates", pa.int64())])


class TopK(StageConfig):
    """The best hits."""

    kind: Literal["top_k"] = "top_k"
    depth: PositiveInt = Field(5, description="chunks handed on")


class Budget(StageConfig):
    """The best hits while their tokens sum to no more than a budget.

    It ends at the first hit that doesn't fit: a smaller one further down is not pulled forward.
    """

    kind: Literal["budget"] = "budget"
    max_tokens: PositiveInt = Field(description="tokens of all chunks handed on, together")
    depth: PositiveInt | None = Field(None, description="chunks handed on at most")


Context = Annotated[TopK | Budget, Field(discriminator="kind")]


def build(config: Context, hits: str) -> Stage:
    """Selection from a batch's column `hits` (HITS; null: nothing found), by its `passages`.

    Gives SELECTED: `context_tokens` are the chosen chunks' tokens; `duplicates` counts the chosen
    hits whose spans earlier chosen hits cover wholly. They are counted, not removed.
    Raises RowError, when called, if a hit has no passage.
    """
    match config:
        case TopK(depth=depth):
            return Selection(hits, depth=depth, max_tokens=None)
        case Budget(depth=limit, max_tokens=max_tokens):
            return Selection(hits, depth=limit, max_tokens=max_tokens)


class Selection:
    """See `build`."""

    def __init__(self, hits: str, *, depth: int | None, max_tokens: int | None) -> None:
        self.hits = hits
        self.depth = depth
        self.max_tokens = max_tokens

    def __call__(self, batch: pa.Table) -> pa.Table:
        """SELECTED, a row per question."""
        rows, hits = flatten(batch[self.hits])
        if self.depth is not None:
            rows, hits = _kept(rows, hits, _ranks(rows) < self.depth)
        places = self._places(batch, rows, hits)
        if self.max_tokens is not None:
            fits = _running(rows, _tokens(places)) <= self.max_tokens
            places = places.filter(pa.array(fits))
            rows, hits = _kept(rows, hits, fits)
        n_rows = batch.num_rows
        tokens = np.bincount(rows, weights=_tokens(places), minlength=n_rows).astype(np.int64)
        duplicates = np.bincount(rows[_repeated(rows, places)], minlength=n_rows)
        chosen = lists(rows, hits, n_rows)
        columns = [batch["question_id"], chosen, pa.nulls(n_rows, TEXT), tokens, duplicates]
        return pa.table(columns, schema=SELECTED)

    def _places(self, batch: pa.Table, rows: Ints, hits: pa.Array) -> pa.Array:
        """The passage of every hit."""
        owners, passages = flatten(batch["passages"])
        known = {"row": owners, "chunk_id": pl.Series(passages.field("chunk_id"))}
        wanted = {"row": rows, "chunk_id": pl.Series(hits.field("chunk_id"))}
        found = pl.DataFrame(wanted).join(
            pl.DataFrame(known).with_row_index("place"),
            on=["row", "chunk_id"],
            how="left",
            maintain_order="left",
        )
        lost = found.filter(pl.col("place").is_null())
        if len(lost):
            row, chunk_id, _ = lost.row(0)
            raise RowError(
                f"question {batch['question_id'][row].as_py()}: chunk {chunk_id} in {self.hits!r} "
                f"is not among the question's passages, so its tokens and spans are unknown"
            )
        return passages.take(found["place"].to_arrow())


def _kept(rows: Ints, hits: pa.Array, mask: npt.NDArray[np.bool_]) -> tuple[Ints, pa.Array]:
    return rows[mask], hits.filter(pa.array(mask))


def _ranks(rows: Ints) -> Ints:
    """0, 1, … within each row; rows: sorted."""
    return np.arange(len(rows)) - np.searchsorted(rows, rows)


def _running(rows: Ints, tokens: Ints) -> Ints:
    """Tokens of each hit and of those before it in its row; rows: sorted."""
    total = np.cumsum(tokens)
    return total - (total - tokens)[np.searchsorted(rows, rows)]


def _tokens(places: pa.Array) -> Ints:
    tokens: Ints = places.field("tokens").to_numpy()
    return tokens


def _repeated(rows: Ints, places: pa.Array) -> npt.NDArray[np.bool_]:
    """(n_hits,), whether earlier hits of the row hold all of a hit's characters."""
    texts = rows
    for name in ("source_id", "revision_id"):
        codes = places.field(name).dictionary_encode("encode")
        texts = texts * len(codes.dictionary) + codes.indices.to_numpy()
    _, texts = np.unique(texts, return_inverse=True)
    hits, spans = flatten(places.field("spans"))
    starts, ends = (spans.field(name).to_numpy() for name in ("start_char", "end_char"))
    return repeats(texts[hits], hits, starts, ends, len(places))
