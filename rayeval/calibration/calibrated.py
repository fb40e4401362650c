"""How far a judge's labels are people's: every figure with its interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any

import numpy as np
import polars as pl

from rayeval.calibration.authors import by_author
from rayeval.calibration.labels import Paired, Scale, pair_labels
from rayeval.columns import Floats
from rayeval.stats import agreement as agreed
from rayeval.stats.quantiles import percentile_interval

FIGURES = ("agreement", "kappa", "kappa_linear", "kappa_quadratic", "alpha", "alpha_nominal",
           "sensitivity", "specificity")  # fmt: skip
FEWEST_CLUSTERS = 2
LANGUAGE, UNSTATED = "language=", "no language stated"
"""How the slices of languages are called, and that of items without one beside them."""


def calibrated(
    human: pl.DataFrame,
    judge: pl.DataFrame,
    *,
    scale: Scale | None = None,
    positive: str | None = None,
    itself: str | None = None,
    seed: int = 42,
) -> dict[str, Any]:
    """Agreement of a judge with people, and of people with one another.

    human, judge: tables of `interop.labels`. positive: the label from which on an item counts as
    positive for sensitivity and specificity; default: 2 on a scale of numbers that has more than
    two and 2 among them, else the highest of a scale of numbers or of two labels, else none.
    itself: the author of items who is the judge's own model, for its preference of itself.
    An item that was drawn for labelling with a known chance stands for one over it, so that the
    figures are those of all items; `n` and `confusion` count the labelled ones.
    What has a label off the scale is in no figure but `agreement_strict`, which takes a judge's for
    a disagreement. Figures are null where they are undefined; `intervals` are percentiles of a
    cluster bootstrap.
    """
    paired = pair_labels(human, judge, scale)
    scale = paired.scale
    cut = _cut(scale, positive)
    found = _figures(paired, cut, seed)
    return {
        **found,
        "scale": list(scale.labels),
        "ordinal": scale.ordinal,
        "positive": None if cut is None else scale.labels[cut],
        **paired.counts,
        "agreement_strict": _strict(found["agreement"], paired),
        "out_of_scale": paired.out_of_scale,
        "confusion": _confusion(paired),
        "slices": {name: _figures(part, cut, seed) for name, part in _slices(paired)},
        "human_human": _among(human, scale),
        **({} if cut is None else by_author(paired, cut, itself, seed)),
    }


def _figures(paired: Paired, cut: int | None, seed: int) -> dict[str, Any]:
    k = len(paired.scale.labels)
    tables = agreed.tables(paired.human, paired.judge, paired.clusters, k, paired.weights)
    whole = tables.sum(axis=0)
    functions = _functions(paired.scale, cut)
    found: dict[str, Any] = {"n": len(paired.human), "clusters": len(tables)}
    found |= {name: _plain(f(whole)) for name, f in functions.items()}
    found["prevalence_human"] = None if cut is None else _plain(_share(whole.sum(axis=1), cut))
    found["prevalence_judge"] = None if cut is None else _plain(_share(whole.sum(axis=0), cut))
    found["intervals"] = _intervals(tables, functions, seed)
    return found


def _strict(agreement: float | None, paired: Paired) -> float | None:
    """Agreement where a judge's label off the scale agrees with nobody."""
    counted = float(paired.weights.sum())
    whole = counted + paired.off_weight
    return (agreement or 0.0) * counted / whole if whole else None


def _functions(scale: Scale, cut: int | None) -> dict[str, Callable[[Floats], Floats]]:
    level: agreed.Level = "ordinal" if scale.ordinal else "nominal"

    def alpha(level: agreed.Level) -> Callable[[Floats], Floats]:
        return lambda table: agreed.alpha(table + np.swapaxes(table, -1, -2), level)

    nothing = np.full((), np.nan)
    none: Callable[[Floats], Floats] = lambda table: nothing  # noqa: E731
    return {
        "agreement": agreed.agreement,
        "kappa": agreed.kappa,
        "kappa_linear": (lambda t: agreed.kappa(t, "linear")) if scale.ordinal else none,
        "kappa_quadratic": (lambda t: agreed.kappa(t, "quadratic")) if scale.ordinal else none,
        "alpha": alpha(level),
        "alpha_nominal": alpha("nominal"),
        "sensitivity": none if cut is None else lambda t: agreed.sensitivity(t, cut),
        "specificity": none if cut is None else lambda t: agreed.specificity(t, cut),
    }


def _intervals(
    tables: Floats, functions: dict[str, Callable[[Floats], Floats]], seed: int
) -> dict[str, list[float] | None]:
    """95% limits; none of fewer than two clusters, or where a figure is mostly undefined."""
    if len(tables) < FEWEST_CLUSTERS:
        return dict.fromkeys(functions)
    drawn = agreed.replicated(tables, seed=seed)
    found: dict[str, list[float] | None] = {}
    for name, function in functions.items():
        values = np.atleast_1d(function(drawn))
        values = values[~np.isnan(values)]
        enough = len(values) >= 0.95 * len(drawn)
        found[name] = list(percentile_interval(values)) if enough else None
    return found


def _cut(scale: Scale, positive: str | None) -> int | None:
    if positive is not None:
        return scale.labels.index(positive)
    if len(scale.labels) > 2 and scale.ordinal and "2" in scale.labels:
        return scale.labels.index("2")
    return len(scale.labels) - 1 if scale.ordinal or len(scale.labels) == 2 else None


def _confusion(paired: Paired) -> dict[str, dict[str, int]]:
    """people's label → the judge's → how many."""
    labels = paired.scale.labels
    same = np.zeros(len(paired.human), np.int64)
    if not len(same):
        return {}
    table = agreed.tables(paired.human, paired.judge, same, len(labels))[0].astype(int)
    return {
        row: dict(zip(labels, map(int, counts), strict=True))
        for row, counts in zip(labels, table, strict=True)
    }


def _slices(paired: Paired) -> Iterator[tuple[str, Paired]]:
    """Every language and slice by itself."""
    for kind, prefix in (("language", LANGUAGE), ("slice", "")):
        values = paired.groups[kind].unique().sort(nulls_last=True).to_list()
        for value in values if kind == "language" and values != [None] else _stated(values):
            some = paired.groups[kind].eq_missing(value).to_numpy()
            name = UNSTATED if value is None else f"{prefix}{value}"
            clusters = np.unique(paired.clusters[some], return_inverse=True)[1]
            yield name, Paired(
                paired.scale, paired.items.filter(pl.Series(some)), paired.human[some],
                paired.judge[some], clusters, paired.weights[some],
                paired.groups.filter(pl.Series(some)), {}, [],
            )  # fmt: skip


def _stated(values: list[str | None]) -> list[str | None]:
    return [value for value in values if value is not None]


def _among(human: pl.DataFrame, scale: Scale) -> dict[str, Any] | None:
    """People with one another: every two of them, and α over all; none of one alone."""
    named = human.filter(pl.col("label").is_not_null()).with_columns(
        pl.col("annotator").fill_null("")
    )
    named = named.with_columns(place=scale.places(named["label"])).drop_nulls("place")
    people = named["annotator"].n_unique()
    if people < 2:
        return None
    counts = named.group_by("item_id").agg(
        (pl.col("place") == place).sum().cast(pl.Float64).alias(str(place))
        for place in range(len(scale.labels))
    )
    counts = counts.sort("item_id").drop("item_id")
    together = agreed.coincidences(counts.to_numpy()).sum(axis=0)
    level: agreed.Level = "ordinal" if scale.ordinal else "nominal"
    shared = list(_pairs(named, scale))
    return {
        "annotators": people,
        "n": int((counts.sum_horizontal() > 1).sum()),
        "alpha": _plain(agreed.alpha(together, level)),
        "alpha_nominal": _plain(agreed.alpha(together, "nominal")),
        "agreement": _mean([p["agreement"] for p in shared], [p["n"] for p in shared]),
        "kappa": _mean([p["kappa"] for p in shared], [p["n"] for p in shared]),
        "pairs": shared,
    }


def _pairs(named: pl.DataFrame, scale: Scale) -> Iterator[dict[str, Any]]:
    """Every two people who labelled the same items."""
    functions = _functions(scale, None)
    names = ("agreement", "kappa", "kappa_linear", "kappa_quadratic")
    mine = named.select("item_id", "annotator", "place")
    both = mine.join(mine, on="item_id", suffix="_second").filter(
        pl.col("annotator") < pl.col("annotator_second")
    )
    who = ["annotator", "annotator_second"]
    for two, part in sorted(both.partition_by(who, as_dict=True).items(), key=itemgetter(0)):
        places = part["place"].to_numpy(), part["place_second"].to_numpy()
        table = agreed.tables(*places, np.zeros(part.height, np.int64), len(scale.labels))[0]
        figures = {name: _plain(functions[name](table)) for name in names}
        yield {"annotators": list(two), "n": part.height, **figures}


def _mean(values: list[float | None], n: list[int]) -> float | None:
    """Over pairs of people, by how many items they share."""
    there = [(value, count) for value, count in zip(values, n, strict=True) if value is not None]
    total = sum(count for _, count in there)
    return sum(value * count for value, count in there) / total if total else None


def _share(counts: Floats, cut: int) -> Floats:
    return np.asarray(counts[cut:].sum() / counts.sum() if counts.sum() else np.nan)


def _plain(value: Floats | float) -> float | None:
    number = float(value)
    return None if math.isnan(number) else number
