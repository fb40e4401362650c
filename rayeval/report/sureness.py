"""What a difference's interval and its p say, and what to make of it where they are at odds."""

from __future__ import annotations

import math
from collections.abc import Iterable

from rayeval.report.grounds import Row, named

ALPHA = 0.05
MEANS = (
    "low, high: the two-sided 95% interval, by cluster bootstrap. p: the two-sided chance of a "
    "difference as large if there were none, by flipping the signs of whole clusters (a "
    "permutation test)."
)
HOLM = "Holm: p as one of all the slices' of its stage and metric."
SHOWN = 4


def sureness(row: Row) -> str:
    """What the interval says beyond these questions; a sentence without its stop."""
    figures = f"{named(row)} changed by {row['mean']:+.2f}"
    if math.isnan(row["low"]):
        return f"{figures}; too few clusters for an interval"
    spread = f"{figures} ({row['low']:+.2f} to {row['high']:+.2f} for questions like these)"
    return spread if beyond(row) else f"{spread}, which chance alone may give"


def beyond(row: Row) -> bool:
    """Whether the interval lies on one side of 0."""
    return bool(row["low"] > 0 or row["high"] < 0)


def disagrees(row: Row) -> bool:
    """Whether interval and p say different things at the same level."""
    p = row["p"]
    known = not (math.isnan(row["low"]) or p is None or math.isnan(p))
    return known and beyond(row) != (p <= ALPHA)


def against(row: Row) -> str:
    """What p says against the interval; goes on after `sureness`."""
    return f", though p is {row['p']:.3f} by permutation: a close call"


def disagreements(rows: Iterable[Row]) -> str:
    """The rows where the two are at odds; empty where they are not."""
    odd = [f"{named(row)} (p {row['p']:.3f})" for row in rows if disagrees(row)]
    if not odd:
        return ""
    more = f" and {len(odd) - SHOWN} more" if len(odd) > SHOWN else ""
    return (
        f"Interval and p are at odds for {', '.join(odd[:SHOWN])}{more}: the interval is about "
        "how large the difference is in questions like these, p about whether there is any. "
        "Where they part it is a close call, which more questions settle."
    )
