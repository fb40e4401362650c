"""How far a judge's labels are people's: every figure with its interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars as pl

from rayeval.calibration.authors import by_author
from rayeval.calibration.labels import Paired, Scale, pair_labels
from rayeval.calibration.people import among
from rayeval.columns import Floats
from rayeval.stats import agreement as agreed
from rayeval.stats.alternative import EPSILON
from rayeval.stats.quantiles import defined_interval

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
    epsilon: float = EPSILON,
) -> dict[str, Any]:
    """Agreement of a judge with people, and of people with one another.

    human, judge: tables of `interop.labels`. positive: the label from which on an item counts as
    positive for sensitivity and specificity; default: 2 on a scale of numbers that has more than
    two and 2 among them, else the highest of a scale of numbers or of two labels, else none.
    itself: the author of items who is the judge's own model, for its preference of itself.
    An item that was drawn for labelling with a known chance stands for one over it, so that the
    figures are those of all items; `n` and `confusion` count the labelled ones (in `confusion` once
    for each label that the judge gave one).
    What has a label off the scale is in no figure but `agreement_strict`, which takes a judge's for
    a disagreement. Figures are null where they are undefined, and `undefined` says why; `intervals`
    are percentiles of a cluster bootstrap. epsilon: of `stats.alternative`.
    """
    scale = scale or Scale.used(human, judge)
    scale = scale if scale.ordinal or positive is None else scale.last(positive)
    paired = pair_labels(human, judge, scale)
    cut = _cut(scale, positive)
    found = _figures(paired, cut, seed)
    return {
        **found,
        "scale": list(scale.labels),
        "ordinal": scale.ordinal,
        "positive": None if cut is None else scale.labels[cut],
        "weighed": bool(len(paired.weights) and np.ptp(paired.weights) > 0),
        **paired.counts,
        "agreement_strict": _strict(found["agreement"], paired),
        "out_of_scale": paired.out_of_scale,
        "confusion": _confusion(paired),
        "slices": {name: _figures(part, cut, seed) for name, part in _slices(paired)},
        **among(human, judge, scale, seed=seed, epsilon=epsilon),
        **({} if cut is None else by_author(paired, cut, itself, seed)),
    }


def _figures(paired: Paired, cut: int | None, seed: int) -> dict[str, Any]:
    k = len(paired.scale.labels)
    tables = agreed.tables(paired.human, paired.judge, paired.clusters, k, paired.weights)
    whole = tables.sum(axis=0)
    functions = _functions(paired.scale, cut)
    found: dict[str, Any] = {"n": paired.items.n_unique(), "clusters": len(tables)}
    found |= {name: _plain(f(whole)) for name, f in functions.items()}
    found["undefined"] = {
        name: _why(name, paired, cut) for name in functions if found[name] is None
    }
    found["prevalence_human"] = None if cut is None else _plain(_share(whole.sum(axis=1), cut))
    found["prevalence_judge"] = None if cut is None else _plain(_share(whole.sum(axis=0), cut))
    found["intervals"] = _intervals(tables, functions, seed)
    return found


def _why(name: str, paired: Paired, cut: int | None) -> str:
    """Why a figure is undefined."""
    if not len(paired.human):
        return "no item has a label of both on the scale"
    if name in ("sensitivity", "specificity"):
        some = "nothing" if name == "sensitivity" else "everything"
        return (
            f"people call {some} positive" if cut is not None else "no label is named as positive"
        )
    if name in ("kappa_linear", "kappa_quadratic") and not paired.scale.ordinal:
        return "the labels have no order"
    return f"all labels are {paired.scale.labels[paired.human[0]]}"


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
    return {name: defined_interval(np.atleast_1d(f(drawn))) for name, f in functions.items()}


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


def _share(counts: Floats, cut: int) -> Floats:
    return np.asarray(counts[cut:].sum() / counts.sum() if counts.sum() else np.nan)


def _plain(value: Floats | float) -> float | None:
    number = float(value)
    return None if math.isnan(number) else number
