"""What trec_eval measures, as it measures it (DESIGN §5)."""

from rayeval.metrics.trec.measures import Values
from rayeval.metrics.trec.names import COUNTS, TREC, measures, parse
from rayeval.metrics.trec.ranks import Grouped, Judged, grouped, judged

__all__ = [
    "COUNTS",
    "TREC",
    "Grouped",
    "Judged",
    "Values",
    "grouped",
    "judged",
    "measures",
    "parse",
]
