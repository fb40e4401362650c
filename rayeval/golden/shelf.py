"""The documents of one shard, found by what they are called or by what they say."""

from __future__ import annotations

from functools import cached_property

import polars as pl
import pyarrow as pa

from rayeval.golden.anchor import normal, unspaced
from rayeval.golden.document import Document
from rayeval.stage import Shard
from rayeval.tables import DOCUMENTS, PARSED

KEY = ["source_id", "revision_id"]
COLUMNS = [*KEY, "text", "format", "text_start"]
FORMS = {"quote": pl.String, "form": pl.String}
SCANNED_CHARS = 4_000_000
"""Searched at a time, since a short quote may match as often as there are characters."""


class Shelf:
    """Every document of a shard that has a text, by its position there."""

    def __init__(self, shard: Shard) -> None:
        pairs = zip(shard.tables("documents"), shard.tables("elements"), strict=True)
        parts = [d.select(COLUMNS).append_column("elements", e["elements"]) for d, e in pairs]
        fields = [*(DOCUMENTS.field(name) for name in COLUMNS), PARSED.field("elements")]
        self._table = pa.concat_tables([pa.schema(fields).empty_table(), *parts])
        texts = pl.DataFrame(pl.from_arrow(self._table.select([*KEY, "text"])))
        self._texts = texts.with_row_index("position").drop_nulls("text")
        catalogue = shard.table("catalogue")
        current = pl.DataFrame(pl.from_arrow(catalogue.filter(catalogue["current"]).select(KEY)))
        self._current = self._texts.join(current, on=KEY, how="semi")

    def document(self, position: int) -> Document:
        """The document at `position`."""
        row = {name: self._table[name][position].as_py() for name in COLUMNS}
        return Document(row, self._table["elements"][position].values)

    def named(self, keys: pl.DataFrame) -> pl.DataFrame:
        """`keys`, which has KEY's columns, with the `position` of those that stand here."""
        return keys.join(self._texts.select(*KEY, "position"), on=KEY)

    def saying(self, quotes: list[str], head: int | None = None) -> pl.DataFrame:
        """(`position` of a current document, `quote` that it may hold), each pair once.

        head: characters of a quote that are looked for; None: all of them.
        """
        forms = {"quote": quotes, "form": [quote[:head] for quote in quotes]}
        normals = [normal(quote)[:head] for quote in quotes]
        ways = [normals, [unspaced(form) for form in normals]]
        others = pl.concat([pl.DataFrame({"quote": quotes, "form": way}, FORMS) for way in ways])
        exact = _holding(self._current, pl.DataFrame(forms, FORMS))
        return pl.concat([exact, _holding(self._normals, others.unique())]).unique()

    @cached_property
    def _normals(self) -> pl.DataFrame:
        """The current documents' texts in other forms."""
        texts = ["\n".join(self.document(place).forms) for place in self._current["position"]]
        return self._current.select("position", pl.Series("text", texts, pl.String))


def _holding(texts: pl.DataFrame, forms: pl.DataFrame) -> pl.DataFrame:
    """(`position`, `quote`) wherever the text at `position` holds a `form` of the quote.

    A quote of white space alone has no form left, and stands nowhere.
    """
    forms = forms.filter(pl.col("form") != "")
    block = texts["text"].str.len_chars().cum_sum() // SCANNED_CHARS
    sought = pl.lit(forms["form"].unique()).implode()
    found = pl.col("text").str.extract_many(sought, overlapping=True).list.unique()
    parts = [
        part.select("position", form=found).explode("form")
        for part in texts.with_columns(block=block).partition_by("block", maintain_order=True)
    ]
    held = pl.concat(
        [pl.DataFrame(schema={"position": pl.get_index_type(), "form": pl.String}), *parts]
    )
    return held.join(forms, on="form").select("position", "quote")
