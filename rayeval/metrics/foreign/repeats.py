"""Lists that have the same passage twice without an id that says so.

An id twice is refused. What has none (text, or spans) counts as often as it is listed: two sources
may say the same. What the lists of which questions repeat is worth saying.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pyarrow as pa

from rayeval.columns import flatten
from rayeval.metrics.evidence import bools
from rayeval.metrics.foreign.blind import marked
from rayeval.metrics.foreign.hits import GOLDEN_RATIO, Hits, apart, hashed
from rayeval.metrics.spans import Bools
from rayeval.stated import shown

SAME = ("source_id", "revision_id", "text")


def repeated(hits: Hits, n: int) -> Bools:
    """(n_questions,): a list of the question's has a hit without an id twice: the same text of the
    same source, or the same spans of it.

    Hashes find the lists with a suspect, what is written decides.
    """
    if not (hits.has("text") or hits.has("spans")):
        return np.zeros(n, bool)
    nameless = bools(hits.field("chunk_id").is_null(), True)
    nameless &= bools(hits.field("text").is_valid(), False) | bools(
        hits.field("spans").is_valid(), False
    )
    at = np.flatnonzero(nameless)
    keys = np.zeros(len(at), np.uint64)
    for name in SAME:
        if hits.has(name):
            keys = keys * GOLDEN_RATIO + hashed(hits.field(name).take(pa.array(at)))
    if hits.has("spans"):
        keys = keys * GOLDEN_RATIO + _ends(hits)[at]
    ordered = np.sort(apart(keys, np.arange(len(hits.length)), hits.list[at]))
    if not (ordered[1:] == ordered[:-1]).any():
        return np.zeros(n, bool)
    again = pl.DataFrame({"list": hits.list[at], "key": keys})
    lists = np.unique(again.filter(pl.struct("list", "key").is_duplicated())["list"].to_numpy())
    some = at[np.isin(hits.list[at], lists)]
    which = pa.array(some)
    written = pl.DataFrame(
        {
            "list": hits.list[some],
            **{name: pl.Series(hits.field(name).take(which), dtype=pl.String) for name in SAME},
            "spans": pl.Series(shown(hits.field("spans").take(which)), dtype=pl.String),
        }
    )
    twice = written.select(~pl.struct(pl.all()).is_first_distinct()).to_series().to_numpy()
    return marked(hits.rows(some[twice]), n)


def _ends(hits: Hits) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """(n_hits,): a number of the offsets of its spans."""
    owner, pairs = flatten(hits.field("spans"))
    start, end = (np.asarray(field, np.uint64) for field in pairs.flatten())
    ends = np.zeros(len(hits.list), np.uint64)
    np.add.at(ends, owner, start * GOLDEN_RATIO + end)
    return ends
