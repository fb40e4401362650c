"""Which way a figure is better, and how far it can go."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rayeval.errors import ConfigError
from rayeval.metrics.names import parse


@dataclass(frozen=True)
class Direction:
    """A metric's own."""

    sign: float
    """1: more is better; −1: less is."""
    most: float
    """The largest difference there can be."""


def direction(metric: str) -> Direction:
    """Of a metric by name; one of another convention is better the higher it is."""
    if metric.startswith("latency_ms"):
        return Direction(-1.0, math.inf)
    try:
        known = parse(metric).metric
    except ConfigError:
        return Direction(1.0, math.inf)
    return Direction(1.0 if known.better == "higher" else -1.0, known.high or math.inf)
