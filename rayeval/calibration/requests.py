"""What people are asked: each thing once, however often a judge gave a verdict on it.

A claim that every repeat makes beside one context is a verdict per repeat and one request. People's
label of a request is held against all its verdicts, each by its share of them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, unquote

import polars as pl

from rayeval.calibration.items import as_labels
from rayeval.calibration.sample import draw, keyed
from rayeval.errors import DataError, Problem

KEEP = "keep that column: without it nobody knows how often such items were drawn"


@dataclass(frozen=True)
class Mark:
    """Which draw a sheet's row is of: from it and the run, every chance can be told again.

    The chances themselves are not in the sheet, for they give the judge's verdicts away; nor is the
    run's name, for it may say whose answers these are.
    """

    run: str
    """The beginning of the hash of the run's id."""
    n: int
    seed: int
    by: tuple[str, ...]
    """Slices that were strata."""
    digest: str
    """Of what was drawn and with which chances; another one, and it was another draw."""

    def __str__(self) -> str:
        slices = "+".join(quote(name, safe="") for name in self.by)
        return f"{self.run}/{self.n}/{self.seed}/{slices}/{self.digest}"

    @classmethod
    def of(cls, run_id: str, n: int, seed: int, by: Sequence[str], drawn: pl.DataFrame) -> Mark:
        """The mark of what was drawn (`drawn`)."""
        rows = drawn.select("item_id", "inclusion_probability").sort("item_id").iter_rows()
        said = "\n".join(f"{name} {chance!r}" for name, chance in rows)
        return cls(cls.named(run_id), n, seed, tuple(by), _hashed(said, 8))

    @staticmethod
    def named(run_id: str) -> str:
        """How marks call a run."""
        return _hashed(run_id, 12)

    @classmethod
    def read(cls, said: str) -> Mark | None:
        """The mark that a cell holds; None if it holds none."""
        parts = said.strip().rsplit("/", 4)
        if len(parts) < 5 or not parts[1].isdecimal() or not parts[2].lstrip("-").isdecimal():
            return None
        by = tuple(unquote(name) for name in parts[3].split("+") if name)
        return cls(parts[0], int(parts[1]), int(parts[2]), by, parts[4])


def requests_of(items: pl.DataFrame) -> pl.DataFrame:
    """A row per request about the run's own answers, in order of `item_id`, the request's id.

    items: `items.SCHEMA`. `copies` is how many verdicts it stands for; the rest, and so the stratum
    from which it is drawn, is of one of them, which is chosen by a hash of its id.
    """
    mine = items.filter(pl.col("variant") == "answer")
    lots = pl.Series([keyed("copy", name) for name in mine["item_id"]], dtype=pl.String)
    first = mine.with_columns(lot=lots, copies=pl.len().over("request")).sort("lot")
    once = first.unique("request", keep="first", maintain_order=True).drop("lot", "item_id")
    return once.rename({"request": "item_id"}).sort("item_id")


def drawn_of(
    items: pl.DataFrame, task: str, n: int, *, seed: int, by: Sequence[str] = ()
) -> pl.DataFrame:
    """`n` of the requests with `inclusion_probability`, as `sample.draw` draws them."""
    return draw(requests_of(items), task, n, seed=seed, by=by)


def weighed(people: pl.DataFrame, items: pl.DataFrame, chances: pl.DataFrame) -> pl.DataFrame:
    """People's labels with the chance of each as that of one verdict: the request's over `copies`.

    people: of `interop.labels`. items: `items.SCHEMA`. chances: `item_id, sample, chance`, of
    every draw that people's labels name.
    Raises DataError for a request of which nobody knows the chance.
    """
    copies = requests_of(items).select("item_id", "copies")
    found = people.join(copies, on="item_id", how="left", maintain_order="left").join(
        chances, on=["item_id", "sample"], how="left", maintain_order="left"
    )
    known = pl.coalesce("inclusion_probability", "chance")
    lost = found.filter(pl.col("copies").is_not_null() & known.is_null())
    if not lost.is_empty():
        raise DataError([_unknown(row) for row in lost.iter_rows(named=True)])
    return found.with_columns(inclusion_probability=known / pl.col("copies").fill_null(1)).drop(
        "copies", "chance"
    )


def judged(items: pl.DataFrame, people: pl.DataFrame) -> pl.DataFrame:
    """The judge's verdicts as labels of what people labelled, with `share`.

    Of a request, a row per verdict that it got, and the share of its verdicts that said so. Labels
    by the ids of single verdicts are read as well.
    """
    asked, theirs = requests_of(items), pl.col("item_id").is_in(people["item_id"].implode())
    mine = items.filter(pl.col("variant") == "answer")
    if asked.filter(theirs).is_empty():
        asked, single = asked.clear(), items.filter((pl.col("variant") == "answer") | theirs)
    else:
        single = items.filter(theirs)
    shares = mine.group_by(item_id="request", verdict="verdict").agg(share=pl.len())
    shares = shares.with_columns(pl.col("share") / pl.col("share").sum().over("item_id"))
    said = asked.drop("verdict").join(shares, on="item_id").sort("item_id", "verdict")
    rows = [as_labels(said).with_columns(said["share"]), as_labels(single).with_columns(share=1.0)]
    return pl.concat(rows)


def _hashed(said: str, length: int) -> str:
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def _unknown(row: dict[str, object]) -> Problem:
    item, sample = row["item_id"], row["sample"]
    said = (
        f"item {item!r} is of a sheet that `rayeval judge sample` drew, and has no `sample`; {KEEP}"
        if sample is None
        else f"item {item!r} is not of the draw {sample!r}: a row keeps the `sample` it came with"
    )
    line = row["line"] if isinstance(row["line"], int) else None
    return Problem("--human", line, None, "unknown_chance", said)
