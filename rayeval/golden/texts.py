"""What gold evidence says: the context that a perfect retrieval would hand over."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl
import pyarrow as pa

from rayeval.columns import Ints, flatten, lists
from rayeval.golden.shelf import KEY
from rayeval.stage import Shard, Stage
from rayeval.tables import TEXT

GOLD_TEXT = pa.struct([("number", pa.int64()), ("chunk_id", TEXT), ("text", TEXT)])
"""Which of the question's evidence it is, from 0; its evidence_id in a chunk's place; its text."""


class GoldTexts:
    """Scatters `evidence` (lists of LOCATED) over the shards' `documents`.

    Answers `question_id, gold_texts: list<GOLD_TEXT>`: of every group its best gold evidence, in
    order of evidence. Best is what is located, then of the highest relevance, then the first. Its
    text is that of its spans, a line for each; of evidence that isn't located, its quote.
    """

    def load(self, shard: Shard) -> Stage:
        """What answers for the documents of one shard."""
        return _Texts(shard)

    def gather(self, parts: Sequence[pa.Table]) -> pa.Table:
        """The texts of all shards."""
        rows, texts = zip(*(flatten(part["gold_texts"]) for part in parts), strict=True)
        return _answer(parts[0]["question_id"], np.concatenate(rows), pa.concat_arrays(texts))


class _Texts:
    def __init__(self, shard: Shard) -> None:
        tables = [pl.DataFrame(pl.from_arrow(t.select([*KEY, "text"])))
                  for t in shard.tables("documents")]  # fmt: skip
        empty = pl.DataFrame(schema=dict.fromkeys([*KEY, "text"], pl.String))
        self._documents = pl.concat([empty, *tables]).drop_nulls("text")
        self._quotes = shard.number == 0  # they lie in no shard, so one of them answers for them

    def __call__(self, batch: pa.Table) -> pa.Table:
        best = _best(batch)
        located = best.filter("located").explode("spans").unnest("spans")
        start, length = pl.col("start_char"), pl.col("end_char") - pl.col("start_char")
        spans = located.join(self._documents, on=KEY, maintain_order="left").with_columns(
            pl.col("text").str.slice(start, length)
        )
        found = spans.group_by("row", "number", "evidence_id", maintain_order=True).agg(
            pl.col("text").str.join("\n")
        )
        if self._quotes:
            quoted = best.filter(~pl.col("located"))
            found = pl.concat([found, quoted.select(*found.columns[:3], text="quote")])
        items = [found[name].to_arrow() for name in ("number", "evidence_id", "text")]
        texts = pa.StructArray.from_arrays(
            [item.cast(field.type) for item, field in zip(items, GOLD_TEXT, strict=True)],
            fields=list(GOLD_TEXT),
        )
        return _answer(batch["question_id"], found["row"].to_numpy(), texts)


def _best(batch: pa.Table) -> pl.DataFrame:
    """(`row`, `number`, …) of every group's best gold evidence that has a text."""
    rows, evidence = flatten(batch["evidence"])
    names = [*KEY, "evidence_id", "group_id", "spans", "quote", "relevance", "gold"]
    frame = pl.DataFrame(pl.from_arrow(pa.table({n: evidence.field(n) for n in names})))
    frame = frame.with_columns(
        row=pl.Series(rows),
        number=pl.Series(np.arange(len(rows)) - np.searchsorted(rows, rows)),
        located=pl.col("spans").list.len().fill_null(0) > 0,
    )
    gold = frame.filter(
        pl.col("gold").fill_null(False), pl.col("located") | (pl.col("quote") != "")
    )
    order = gold.sort(
        "row", "group_id", "located", "relevance", "number",
        descending=[False, False, True, True, False],
    )  # fmt: skip
    return order.unique(["row", "group_id"], keep="first", maintain_order=True)


def _answer(question_ids: pa.ChunkedArray, rows: Ints, texts: pa.StructArray) -> pa.Table:
    """Texts in order of evidence."""
    keys = pl.DataFrame({"row": rows, "number": pl.Series(texts.field("number"))})
    order = keys.with_row_index("at").sort("row", "number")
    found = lists(order["row"].to_numpy(), texts.take(order["at"].to_arrow()), len(question_ids))
    return pa.table({"question_id": question_ids, "gold_texts": found})
