"""People with one another beside the judge with each of them, in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from rayeval.report.plain import shortened
from rayeval.report.terminal import headed, titled
from rayeval.words import plural

SHOWN = 10
"""Pairs of each kind."""
LONG = 30
"""Characters of a pair's names."""


def people_parts(found: Mapping[str, Any]) -> list[RenderableType]:
    """A row per pair, the means, what the judge has over people, α; nothing of one person."""
    among, judge = found["human_human"], found["judge_human"]
    if among is None:
        return []
    kappas = ["kappa", *(["kappa_quadratic"] if found["ordinal"] else [])]
    heads = ("κ", "κ quadratic")[: len(kappas)]
    table = headed("people, and the judge as one", "items", "agreement", *heads)
    for part, last in ((among, "people with one another"), (judge, "the judge with people")):
        for pair in part["pairs"][:SHOWN]:
            table.row(_names(pair["annotators"]), f"{pair['n']:,}", *_cells(pair, kappas))
        if (hidden := len(part["pairs"]) - SHOWN) > 0:
            table.row(f"… and {plural(hidden, 'more pair')}", *[""] * (len(heads) + 2))
        table.row(last, "", *_cells(part, kappas))
    return [titled("People", table), Text("\n".join(_said(found, kappas[-1])))]


def _said(found: Mapping[str, Any], kappa: str) -> Iterator[str]:
    """What the means come to, and what the alternative annotator test says."""
    among, other = found["human_human"], found["alternative"]
    apart = found["judge_human"]["difference"][kappa]
    if apart["value"] is not None:
        limits = interval(None if apart["low"] is None else [apart["low"], apart["high"]])
        name = "quadratic κ" if kappa == "kappa_quadratic" else "κ"
        yield f"the judge's mean {name} less people's own: {apart['value']:+.3f} {limits}"
    alpha = _figure(among["alpha"], among["alpha_interval"])
    yield f"Krippendorff's α of {among['annotators']} people: {alpha}"
    if "reason" in other:
        yield f"alternative annotator test: {other['reason']}"
        return
    tested = sum(one["p"] is not None for one in other["people"])
    won = round(other["winning_rate"] * tested)
    verdict = "passed" if other["winning_rate"] >= 0.5 else "not passed"
    yield (
        f"alternative annotator test (ε {other['epsilon']:g}): {verdict}, the judge may stand in "
        f"for {won} of {tested} people;"
    )
    yield f"it is at least as near to the others as a person in {other['advantage']:.1%} of items"


def _cells(part: Mapping[str, Any], kappas: Sequence[str]) -> list[str]:
    return [_figure(part["agreement"], None)] + [
        _figure(part[name], part["intervals"][name]) for name in kappas
    ]


def _names(names: Sequence[str]) -> str:
    named = [name or "(no name)" for name in names]
    return shortened(" · ".join(named if len(named) > 1 else ["judge", *named]), LONG)


def _figure(value: float | None, limits: list[float] | None) -> str:
    said = "–" if value is None else f"{value:.3f}"
    return said if limits is None or value is None else f"{said} {interval(limits)}"


def interval(limits: list[float] | None) -> str:
    """Limits in brackets."""
    return "–" if limits is None else f"[{limits[0]:.3f}, {limits[1]:.3f}]"
