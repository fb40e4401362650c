"""What the documents say of texts and of spans that a trace or its chunks have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.chunk.tokens import Tokenizer, Tokens
from rayeval.chunk.tokens import build as build_tokenizer
from rayeval.columns import combined, flatten
from rayeval.golden.standing import documents_of, read_at
from rayeval.stage import Shard, Stage
from rayeval.tables import STANDS


def placed(located: pa.Table) -> pa.Table:
    """Of the texts that were located (`question_id, spots`), those that stand somewhere.

    Returns `chunk_id` (their name), and of those at one place `source_id, revision_id, spans`, of
    those at several `stands`.
    """
    rows, spots = flatten(located["spots"])
    fields = {name: spots.field(name) for name in ("source_id", "revision_id", "spans")}
    ways = {name: pl.Series(spots.field(name)) for name in ("exact", "kind")}
    columns = {name: pl.Series(values) for name, values in fields.items()}
    frame = pl.DataFrame({**columns, **ways}, schema_overrides={"kind": pl.String})
    frame = frame.with_columns(row=pl.Series(rows), at=pl.int_range(pl.len()))
    frame = frame.filter(pl.col("exact") == pl.col("exact").any().over("row"))
    alone = frame.filter(pl.len().over("row") == 1, pl.col("spans").list.len() > 0)
    at, names = alone["at"].to_arrow(), combined(located["question_id"])
    one = {name: values.take(at) for name, values in fields.items()}
    several = _several(frame)
    tables = [
        pa.table({"chunk_id": names.take(alone["row"].to_arrow()), **one}),
        pa.table({"chunk_id": names.take(several["row"].to_arrow()),
                  "stands": several["stands"].to_arrow().cast(STANDS)}),
    ]  # fmt: skip
    return pa.concat_tables(tables, promote_options="default")


def _several(spots: pl.DataFrame) -> pl.DataFrame:
    """`row, stands` of texts that stand at several places: none of them where not all are known."""
    spots = spots.with_columns(unknown=(pl.col("kind") == "quote_ambiguous").fill_null(False))
    spots = spots.filter((pl.len().over("row") > 1) | pl.col("unknown"))
    span = pl.col("spans").list
    ends = {"start_char": span.first(), "end_char": span.last()}
    place = pl.struct(
        "source_id", "revision_id", *(at.struct.field(name) for name, at in ends.items())
    )
    listed = pl.when(pl.col("unknown").any()).then(pl.lit([])).otherwise(place.implode())
    return spots.group_by("row", maintain_order=True).agg(stands=listed)


class SpanTokens:
    """Scatters stated places (`question_id, source_id, revision_id, spans, text`) over documents.

    Answers `question_id, tokens`: of what stands there, where the place comes without a text; null
    elsewhere.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def load(self, shard: Shard) -> Stage:
        """What answers for the documents of one shard."""
        return _Counter(documents_of(shard), build_tokenizer(self._tokenizer))

    def gather(self, parts: Sequence[pa.Table]) -> pa.Table:
        """The one shard's answer that has the document."""
        tokens = pc.coalesce(*(part["tokens"] for part in parts))
        return pa.table({"question_id": parts[0]["question_id"], "tokens": tokens})


class _Counter:
    def __init__(self, documents: pl.DataFrame, tokens: Tokens) -> None:
        self._documents, self._tokens = documents, tokens

    def __call__(self, batch: pa.Table) -> pa.Table:
        read = read_at(batch, self._documents, between="\n")  # no word runs on in the next span
        wordless = read.filter(pl.col("text").is_null())
        counts, at = np.zeros(batch.num_rows, np.int64), wordless["row"].to_numpy()
        counts[at] = self._tokens.counts(wordless["there"].to_arrow())
        unknown = np.ones(batch.num_rows, bool)
        unknown[at] = False
        tokens = pa.array(counts, mask=unknown)
        return pa.table({"question_id": batch["question_id"], "tokens": tokens})
