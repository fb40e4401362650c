"""People's labels and a judge's side by side: one label an item on either side, on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from rayeval.columns import Floats, Ints
from rayeval.errors import DataError, Problem

GROUPS = ("language", "slice", "author")
OFF = pl.col("place").is_not_null() & pl.col("place_judge").is_null() & pl.col("odd_judge")
"""Items that people labelled on the scale, and the judge off it."""


@dataclass(frozen=True)
class Scale:
    """Labels in order; `ordinal` if it means anything."""

    labels: tuple[str, ...]
    ordinal: bool

    @classmethod
    def of(cls, labels: Sequence[str]) -> Scale:
        """A scale of these labels, as they stand; numbers are ordinal."""
        return cls(tuple(labels), all(map(is_number, labels)))

    @classmethod
    def used(cls, human: pl.DataFrame, judge: pl.DataFrame) -> Scale:
        """The scale of the labels that people gave, numbers by size.

        A judge's number between theirs is on it too. Where people gave one label alone, so are all
        of the judge's (numbers, if that is one): it would agree wherever it counts.
        """
        said, also = (frame["label"].drop_nulls().unique().to_list() for frame in (human, judge))
        numeric = all(map(is_number, said))
        also = [label for label in also if not numeric or is_number(label)]
        if len(said) > 1:
            values = sorted(map(float, said)) if numeric else [np.nan]
            also = [one for one in also if numeric and values[0] < float(one) < values[-1]]
        return cls(tuple(sorted({*said, *also}, key=float if numeric else str)), numeric)

    def last(self, label: str) -> Scale:
        """Labels without order, this one last: what is positive from it on is this one alone."""
        return Scale((*(one for one in self.labels if one != label), label), self.ordinal)

    def value(self, place: int) -> float:
        """The number that a label is; on a scale of words its place."""
        return float(self.labels[place]) if all(map(is_number, self.labels)) else float(place)

    def places(self, labels: pl.Series) -> pl.Series:
        """Each label's place, however it is capitalised; null where it is not on the scale."""
        table = dict(zip(self.labels, range(len(self.labels)), strict=True))
        folded = {label.casefold(): place for label, place in table.items()}
        if len(folded) == len(table):
            said = labels.drop_nulls().unique().to_list()
            table = {one: folded[one.casefold()] for one in said if one.casefold() in folded}
        return labels.replace_strict(table, default=None, return_dtype=pl.Int64)


@dataclass(frozen=True)
class Paired:
    """What both sides labelled; arrays (n_rows,), in order of item ids.

    An item is a row, unless its judge labelled it in several ways (`share`): a row for each.
    """

    scale: Scale
    items: pl.Series
    human: Ints
    judge: Ints
    clusters: Ints
    """Numbers of the sorted cluster ids, from 0."""
    weights: Floats
    """One over the probability with which an item was drawn for labelling; 1 where all were."""
    groups: pl.DataFrame
    """`language`, `slice` and `author` of every item."""
    counts: dict[str, int]
    """What was left out, and why."""
    out_of_scale: list[dict[str, str]]
    off_weight: float = 0.0
    """Of the items that people labelled on the scale and the judge off it."""


def pair_labels(human: pl.DataFrame, judge: pl.DataFrame, scale: Scale | None) -> Paired:
    """The items that both labelled, with one label of each.

    human, judge: tables of `interop.labels`; the judge's may have `share` and several labels of an
    item, of each the share of what the item stands for. Several people's label is that of most of
    them; where as many say another, the middle one of an ordinal scale (the lower of two), else
    none. Labels that are not on the scale are told and left out, never moved onto it. A cluster is
    what people's file says, else the judge's, else the item.
    Raises DataError if no item has a label on the scale on both sides.
    """
    scale = scale or Scale.used(human, judge)
    ours, theirs = placed(human, scale), placed(judge, scale)
    of_people, of_judge = consensus(ours, scale), of_one(theirs, scale)
    both = of_people.join(of_judge, on="item_id", suffix="_judge").sort("item_id", "place_judge")
    if both.is_empty():
        raise DataError([_nothing_shared(human, judge)])
    cluster = pl.coalesce("cluster", "cluster_judge", "item_id")
    codes = both.select(cluster.rank("dense") - 1).to_series().cast(pl.Int64)
    counted = both.filter(pl.col("place").is_not_null() & pl.col("place_judge").is_not_null())
    if counted.is_empty():
        raise DataError([_nothing_counted(human, judge, scale)])
    codes = codes.filter(both["place"].is_not_null() & both["place_judge"].is_not_null())
    chance = pl.coalesce("inclusion_probability", "inclusion_probability_judge", pl.lit(1.0))
    weight = pl.col("share") / chance
    return Paired(
        scale,
        counted["item_id"],
        counted["place"].to_numpy(),
        counted["place_judge"].to_numpy(),
        np.unique(codes.to_numpy(), return_inverse=True)[1],
        counted.select(weight).to_series().to_numpy(),
        counted.select(pl.coalesce(name, f"{name}_judge").alias(name) for name in GROUPS),
        _counts(human, judge, of_people, of_judge, both),
        _strangers(theirs) + _strangers(ours),
        float(both.filter(OFF).select(weight.sum()).item()),
    )


def is_number(label: str) -> bool:
    """Whether a label is a number."""
    try:
        return "_" not in label and bool(np.isfinite(float(label)))  # 1_0 is one to Python
    except ValueError:
        return False


def placed(frame: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """The rows that have a label, with its `place`; null off the scale."""
    return frame.filter(pl.col("label").is_not_null()).with_columns(
        place=scale.places(frame.filter(pl.col("label").is_not_null())["label"])
    )


def consensus(frame: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """One row per item: the label of most of its annotators."""
    votes = frame.filter(pl.col("place").is_not_null()).group_by("item_id", "place").len("votes")
    best = votes.filter(pl.col("votes") == pl.col("votes").max().over("item_id"))
    places = pl.col("place").drop_nulls().sort()
    lower = places.get((places.len() - 1) // 2, null_on_oob=True)
    middle = frame.group_by("item_id").agg(middle=lower)
    chosen = best.group_by("item_id").agg(ties=pl.len(), only=pl.col("place").first())
    first = [pl.col(name).drop_nulls().sort().first() for name in ("cluster", *GROUPS)]
    tied = pl.col("middle") if scale.ordinal else pl.lit(None, pl.Int64)
    return (
        frame.group_by("item_id")
        .agg(
            *first,
            pl.col("inclusion_probability").drop_nulls().first(),
            odd=pl.col("place").is_null().any(),
        )
        .join(chosen, on="item_id", how="left")
        .join(middle, on="item_id", how="left")
        .with_columns(place=pl.when(pl.col("ties") == 1).then(pl.col("only")).otherwise(tied))
        .drop("ties", "only", "middle")
    )


def of_one(frame: pl.DataFrame, scale: Scale) -> pl.DataFrame:
    """A judge's label of every item with `share` 1, or all its labels with theirs."""
    if "share" not in frame.columns:
        return consensus(frame, scale).with_columns(share=1.0)
    facts = ("item_id", "cluster", *GROUPS, "inclusion_probability", "place", "share")
    return frame.select(*facts, odd=pl.col("place").is_null())


def _counts(
    human: pl.DataFrame,
    judge: pl.DataFrame,
    of_people: pl.DataFrame,
    of_judge: pl.DataFrame,
    both: pl.DataFrame,
) -> dict[str, int]:
    left_out = both.filter(pl.col("place").is_null() | pl.col("place_judge").is_null())
    ours, theirs, shared, out, off = (
        frame["item_id"].n_unique()
        for frame in (of_people, of_judge, both, left_out, both.filter(OFF))
    )
    return {
        "n_human": ours,
        "n_judge": theirs,
        "n_human_only": ours - shared,
        "n_judge_only": theirs - shared,
        "n_unlabelled": human["label"].null_count() + judge["label"].null_count(),
        "n_left_out": out,
        "n_off_scale": off,
    }


def _strangers(frame: pl.DataFrame) -> list[dict[str, str]]:
    """The labels that are not on the scale, in order of items."""
    found = frame.filter(pl.col("place").is_null()).sort("item_id", "annotator")
    return [
        {"item_id": item, "label": label}
        for item, label in found.select("item_id", "label").iter_rows()
    ]


def _nothing_shared(human: pl.DataFrame, judge: pl.DataFrame) -> Problem:
    ours, theirs = (
        frame.drop_nulls("label")["item_id"].head(1).to_list() for frame in (human, judge)
    )
    said = (
        f"no item is labelled in both files: people labelled e.g. {ours}, the judge {theirs}; "
        "the same item must have the same item_id"
    )
    return Problem("--human", None, None, "nothing_shared", said)


def _nothing_counted(human: pl.DataFrame, judge: pl.DataFrame, scale: Scale) -> Problem:
    ours, theirs = (
        ", ".join(frame["label"].drop_nulls().unique().sort().head(5)) for frame in (human, judge)
    )
    said = (
        "no item that both labelled has one on the scale from both sides: people gave e.g. "
        f"{ours}, the judge {theirs}; expected {', '.join(scale.labels)}"
    )
    return Problem("--scale", None, None, "nothing_on_the_scale", said)
