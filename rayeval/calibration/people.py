"""People with one another, and the judge with each of them: is it as good as one of them?"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import sparse

from rayeval.calibration.labels import Scale, consensus, of_one, placed
from rayeval.columns import Floats
from rayeval.stats import agreement as agreed
from rayeval.stats import draws
from rayeval.stats.alternative import FEWEST_ITEMS, FEWEST_PEOPLE, alternative
from rayeval.stats.bootstrap import REPLICATES, blocks
from rayeval.stats.quantiles import defined_interval

NAMES = ("agreement", "kappa", "kappa_linear", "kappa_quadratic")
KEYS = ("human_human", "judge_human", "alternative")
JUDGE = "\U0010ffff"
"""The judge among the annotators: after every name."""
MOST_PAIRS = 400
"""Of more pairs than these, intervals would cost more than they tell."""

Bools = npt.NDArray[np.bool_]
Figure = Callable[[Floats], Floats]


@dataclass(frozen=True)
class Pairs:
    """Every two who labelled the same items."""

    names: list[tuple[str, str]]
    """In order; the judge is the second of a pair."""
    n: Floats
    """(n_pairs,), items that both labelled."""
    tables: sparse.csr_array
    """(n_clusters, n_pairs · k · k), as `agreement.tables`."""
    k: int

    def shaped(self, flat: Floats) -> Floats:
        """(…, n_pairs · k · k) as (…, n_pairs, k, k)."""
        return flat.reshape(*flat.shape[:-1], len(self.names), self.k, self.k)


def among(
    human: pl.DataFrame, judge: pl.DataFrame, scale: Scale, *, seed: int, epsilon: float
) -> dict[str, Any]:
    """`human_human`, `judge_human` and `alternative`; each None of one person alone.

    human, judge: of `interop.labels`. Figures are over the pairs, by how many items each shares;
    labels are weighed, and intervals drawn by cluster, as those of all items are. `difference` is
    what the judge has over people: of both in the same draws.
    """
    named = placed(human, scale).with_columns(pl.col("annotator").fill_null(""))
    named = named.drop_nulls("place")
    if named["annotator"].n_unique() < 2:
        return dict.fromkeys(KEYS)
    of_judge = of_one(placed(judge, scale), scale)
    labels = _together(named, consensus(placed(human, scale), scale), of_judge)
    pairs = _pairs(labels, len(scale.labels))
    functions = {name: _figure(name, scale) for name in NAMES}
    values = {name: f(pairs.shaped(pairs.tables.sum(axis=0))) for name, f in functions.items()}
    drawn = _drawn(pairs, functions, seed)
    with_judge = np.array([second == JUDGE for _, second in pairs.names])
    parts = {
        key: _part(pairs, some, values, drawn)
        for key, some in zip(KEYS[:2], (~with_judge, with_judge), strict=True)
    }
    parts["human_human"] |= _alpha(labels.filter(pl.col("annotator") != JUDGE), scale, seed)
    parts["judge_human"]["difference"] = _difference(pairs, with_judge, values, drawn)
    return {**parts, "alternative": _alternative(labels, scale, epsilon)}


def _together(named: pl.DataFrame, of_people: pl.DataFrame, of_judge: pl.DataFrame) -> pl.DataFrame:
    """`item_id, annotator, place, share, cluster, weight` of people's labels and the judge's."""
    its_facts = of_judge.unique("item_id", keep="any")
    facts = of_people.join(its_facts, on="item_id", how="left", suffix="_judge").select(
        "item_id",
        cluster=pl.coalesce("cluster", "cluster_judge", "item_id").rank("dense").cast(pl.Int64) - 1,
        weight=1 / pl.coalesce("inclusion_probability", "inclusion_probability_judge", pl.lit(1.0)),
    )
    columns = ("item_id", "annotator", "place", "share")
    its = of_judge.drop_nulls("place").with_columns(annotator=pl.lit(JUDGE)).select(columns)
    said = named.with_columns(share=1.0).select(columns)
    both = pl.concat([said, its]).join(facts, on="item_id")
    return both.sort("item_id", "annotator", "place")


def _pairs(labels: pl.DataFrame, k: int) -> Pairs:
    second = labels.select("item_id", "annotator", "place", "share")
    both = labels.join(second, on="item_id", suffix="_second", maintain_order="left_right").filter(
        pl.col("annotator") < pl.col("annotator_second")
    )
    who = pl.struct("annotator", "annotator_second")
    both = both.with_columns(pair=who.rank("dense").cast(pl.Int64) - 1)
    weight = pl.col("weight") * pl.col("share") * pl.col("share_second")
    shared = pl.col("item_id").n_unique() / weight.sum()
    cells = both.select(
        "cluster",
        cell=(pl.col("pair") * k + pl.col("place")) * k + pl.col("place_second"),
        weight=weight * shared.over("pair"),
    )
    known = both.group_by("pair", "annotator", "annotator_second").agg(
        pl.col("item_id").n_unique().alias("len")
    )
    known = known.sort("pair")
    shape = (int(labels["cluster"].to_numpy().max()) + 1, known.height * k * k)
    places = cells["cluster"].to_numpy(), cells["cell"].to_numpy()
    tables = sparse.coo_array((cells["weight"].to_numpy(), places), shape).tocsr()
    names = list(known.select("annotator", "annotator_second").iter_rows())
    return Pairs(names, known["len"].to_numpy().astype(np.float64), tables, k)


def _figure(name: str, scale: Scale) -> Figure:
    """Of tables (…, k, k); a κ with weights is NaN where labels have no order."""
    if name == "agreement":
        return agreed.agreement
    if name == "kappa":
        return agreed.kappa
    if not scale.ordinal:
        return lambda table: np.full(table.shape[:-2], np.nan)
    return lambda table: agreed.kappa(table, "linear" if name == "kappa_linear" else "quadratic")


def _drawn(pairs: Pairs, functions: Mapping[str, Figure], seed: int) -> dict[str, Floats] | None:
    """Every figure of every pair in every replicate, (REPLICATES, n_pairs); None of too many pairs,
    or of one cluster."""
    clusters, cells = pairs.tables.shape
    if clusters < 2 or not 0 < len(pairs.names) <= MOST_PAIRS:
        return None
    found = {name: np.empty((REPLICATES, len(pairs.names))) for name in functions}
    across = pairs.tables.T.tocsr()
    for part in blocks(REPLICATES, max(clusters, cells)):
        tables = pairs.shaped((across @ draws.counts(seed, part, clusters).T).T)
        for name, function in functions.items():
            found[name][part.start : part.stop] = function(tables)
    return found


def _part(
    pairs: Pairs, some: Bools, values: Mapping[str, Floats], drawn: Mapping[str, Floats] | None
) -> dict[str, Any]:
    """The means over some of the pairs, and each of them."""
    means = {name: _plain(_mean(values[name][some], pairs.n[some])) for name in NAMES}
    limits = {
        name: defined_interval(_mean(drawn[name][:, some], pairs.n[some])) if drawn else None
        for name in NAMES
    }
    each = [_pair(pairs, place, values, drawn) for place in np.flatnonzero(some).tolist()]
    return {**means, "intervals": limits, "pairs": each}


def _pair(
    pairs: Pairs, place: int, values: Mapping[str, Floats], drawn: Mapping[str, Floats] | None
) -> dict[str, Any]:
    limits = {name: defined_interval(drawn[name][:, place]) if drawn else None for name in NAMES}
    figures = {name: _plain(values[name][place]) for name in NAMES}
    who = [name for name in pairs.names[place] if name != JUDGE]
    return {"annotators": who, "n": int(pairs.n[place]), **figures, "intervals": limits}


def _difference(
    pairs: Pairs, its: Bools, values: Mapping[str, Floats], drawn: Mapping[str, Floats] | None
) -> dict[str, Any]:
    """What the judge's mean has over people's own, figure by figure."""

    def apart(figures: Floats) -> Floats:
        first, second = (_mean(figures[..., some], pairs.n[some]) for some in (its, ~its))
        return np.asarray(first - second)

    found: dict[str, Any] = {}
    for name in NAMES:
        limits = defined_interval(apart(drawn[name])) if drawn else None
        low, high = limits or (None, None)
        found[name] = {"value": _plain(apart(values[name])), "low": low, "high": high}
    return found


def _alpha(labels: pl.DataFrame, scale: Scale, seed: int) -> dict[str, Any]:
    """α over all people."""
    places = range(len(scale.labels))
    how_often = ((pl.col("place") == one).sum().cast(pl.Float64).alias(f"{one}") for one in places)
    counts = labels.group_by("item_id", "cluster", "weight").agg(*how_often, raters=pl.len())
    counts = counts.filter(pl.col("raters") > 1).sort("item_id")
    weights = counts["weight"] * (counts.height / (counts["weight"].sum() or 1))
    units = agreed.coincidences(counts.select(map(str, places)).to_numpy())
    clusters, codes = np.unique(counts["cluster"].to_numpy(), return_inverse=True)
    tables = np.zeros((len(clusters), *units.shape[1:]))
    np.add.at(tables, codes, units * weights.to_numpy()[:, None, None])
    level: agreed.Level = "ordinal" if scale.ordinal else "nominal"
    drawn = agreed.replicated(tables, seed=seed) if len(tables) > 1 else None
    return {
        "annotators": labels["annotator"].n_unique(),
        "n": counts.height,
        "alpha": _plain(agreed.alpha(tables.sum(axis=0), level)),
        "alpha_nominal": _plain(agreed.alpha(tables.sum(axis=0), "nominal")),
        "alpha_interval": None if drawn is None else defined_interval(agreed.alpha(drawn, level)),
    }


def _alternative(labels: pl.DataFrame, scale: Scale, epsilon: float) -> dict[str, Any]:
    """The alternative annotator test, or why there is none."""
    values = {place: scale.value(place) for place in range(len(scale.labels))}
    most = labels.sort("share", "place", descending=True).unique(
        ["item_id", "annotator"], keep="first", maintain_order=True
    )
    wide = (
        most.sort("item_id")
        .with_columns(said=pl.col("place").replace_strict(values, return_dtype=pl.Float64))
        .pivot("annotator", index="item_id", values="said", sort_columns=True)
    )
    people = sorted(set(wide.columns) - {"item_id", JUDGE})
    nobody = pl.Series(JUDGE, [None] * wide.height, dtype=pl.Float64)
    its = wide[JUDGE] if JUDGE in wide.columns else nobody
    found = alternative(
        wide.select(people).to_numpy(), its.to_numpy(), ordinal=scale.ordinal, epsilon=epsilon
    )
    if found is None:
        some = f"{FEWEST_PEOPLE} people with {FEWEST_ITEMS} items each"
        return {"reason": f"it needs {some}, which another one and the judge labelled too"}
    return {
        "epsilon": epsilon,
        "winning_rate": found.winning_rate,
        "advantage": found.advantage,
        "people": [
            {"annotator": name, "n": int(n), "advantage": _plain(ahead), "p": _plain(p)}
            for name, n, ahead, p in zip(people, found.n, found.advantages, found.p, strict=True)
        ],
    }


def _mean(values: Floats, n: Floats) -> Floats:
    """Over pairs (…, n_pairs), by how many items they share; NaN where no pair has a value."""
    weights = np.where(np.isnan(values), 0.0, n)
    total = weights.sum(axis=-1)
    above = (np.where(np.isnan(values), 0.0, values) * weights).sum(axis=-1)
    mean: Floats = np.divide(above, total, out=np.full(total.shape, np.nan), where=total > 0)
    return mean


def _plain(value: Floats | float) -> float | None:
    number = float(value)
    return None if math.isnan(number) else number
