"""Sources that hits call otherwise than gold does, where no document says who is right.

A source that no hit names is a miss; one that hits name otherwise would be, in silence.
"""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from rayeval.errors import DataError, Problem
from rayeval.execution.score.known import folded
from rayeval.execution.score.said import listed
from rayeval.words import plural, verb

DEPTH = 4
"""Folders that one of the two may leave out."""
WAYS = "only in folder, extension, case, zeros or Unicode form"


def otherwise(gold: pl.Series, hits: pl.Series, file: str, *, touched: bool) -> Iterator[str]:
    """A warning of sources that gold and hits seem to call differently.

    gold: the sources of all evidence; hits: those of all hits; null where one names none.
    touched: whether a hit is of a source in which its question has evidence.
    Raises DataError where that is so of all: 0 would mean nothing.
    """
    named, found = gold.drop_nulls().unique().sort(), hits.drop_nulls().unique().sort()
    lost = named.filter(~named.is_in(found.implode()))
    strange = found.filter(~found.is_in(named.implode()))
    alike = _alike(lost, strange)
    pairs = [f"{one} and {other}" for one, other in alike.head(3).iter_rows()]
    everything_named = not gold.null_count() and not hits.null_count()
    if everything_named and not touched and len(named) and len(found) and len(lost) == len(named):
        message = _none(named, found, pairs)
        if pairs:
            raise DataError([Problem(file, None, None, "unknown_sources", message)])
        yield message
    elif pairs:
        are = verb(alike.height, "is", "are")
        yield (
            f"{plural(alike.height, 'source')} of gold {are} in no hit, but hits are of others "
            f"that differ {WAYS} ({', '.join(pairs)}): if they are the same, name them alike"
        )


def _none(named: pl.Series, found: pl.Series, pairs: list[str]) -> str:
    differ = f"; they differ {WAYS}: {', '.join(pairs)}" if pairs else ""
    return (
        f"none of the {plural(len(found), 'source')} of hits ({listed(found)}) is one of the "
        f"{len(named):,} that gold is in ({listed(named)}){differ}. If they are the same, name "
        "them alike; what the documents are called is known with --corpus"
    )


def _alike(gold: pl.Series, hits: pl.Series) -> pl.DataFrame:
    """`gold, hit`: ids of which one is the other's end; each of gold once."""
    one, other = _ends(gold, "gold"), _ends(hits, "hit")
    whole = [one.filter("whole").join(other, on="end"), other.filter("whole").join(one, on="end")]
    pairs = pl.concat([pair.select("gold", "hit") for pair in whole]).sort("gold", "hit")
    return pairs.unique("gold", keep="first", maintain_order=True)


def _ends(ids: pl.Series, name: str) -> pl.DataFrame:
    """`{name}, end, whole`: every id with what is left of it without its first folders, with its
    extension and without; `whole`: nothing but the extension is left out."""
    paths = folded(ids).str.replace_all("\\", "/", literal=True).str.strip_chars_start("/")
    rows = [
        pl.DataFrame({name: ids, "end": ends}).with_columns(whole=pl.lit(depth == 0))
        for depth in range(DEPTH + 1)
        for short in (paths.str.replace(rf"^(?:[^/]*/){{{depth}}}", ""),)
        for ends in (short, short.str.replace(r"(.)\.\p{L}{1,5}$", "${1}"))
    ]
    return pl.concat(rows).unique()
