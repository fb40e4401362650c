"""Spans → relevance → per-question numbers → means; and the first failure (DESIGN §§5, 6)."""

from rayeval.metrics.config import Metrics, ShortGold
from rayeval.metrics.failure.codes import CODES
from rayeval.metrics.failure.first_failure import FAILURES, FirstFailure
from rayeval.metrics.failure.missed import Missed
from rayeval.metrics.names import METRICS, Measure, Metric, parse
from rayeval.metrics.per_query import PerQuery
from rayeval.metrics.pipeline import Arm, Later, Pipeline
from rayeval.metrics.totals import AGGREGATE, SLICES, Totals

__all__ = [
    "AGGREGATE",
    "CODES",
    "FAILURES",
    "METRICS",
    "SLICES",
    "Arm",
    "FirstFailure",
    "Later",
    "Measure",
    "Metric",
    "Metrics",
    "Missed",
    "PerQuery",
    "Pipeline",
    "ShortGold",
    "Totals",
    "parse",
]
