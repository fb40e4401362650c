"""The measures of trec_eval, from the ranks of judged documents.

With whole documents for gold a group is a document, and the kernels of rayeval's own metrics are
the textbook's (DESIGN §5); only what is defined otherwise stands here. As in trec_eval, a value
that has nothing to divide by is 0. A document is relevant from grade `relevant` on; nDCG takes
grades as they are, and what is below 0 as not judged.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rayeval.columns import Floats, Ints
from rayeval.metrics import found, graded
from rayeval.metrics.names import Measure
from rayeval.metrics.ranking import NEVER, share, tally
from rayeval.metrics.trec.ranks import Judged

ALL = NEVER - 1
"""The cutoff of a measure that has none."""


class Values:
    """What one run is worth, measure by measure."""

    def __init__(self, judged: Judged, *, relevant: int) -> None:
        self.judged, self.n = judged, len(judged.queries)
        is_relevant = judged.grade >= relevant
        self.rank, self.query = judged.rank[is_relevant], judged.query[is_relevant]
        self.num_rel = np.bincount(self.query, minlength=self.n)
        self.num_rel_ret = self.within(ALL)
        self.relevant = relevant

    def within(self, limit: int | Ints) -> Ints:
        """(n,): relevant documents up to the rank `limit`, of all queries or of each."""
        limits = np.broadcast_to(np.asarray(limit), self.n)
        return tally(self.query, self.rank <= limits[self.query], self.n)

    def value(self, measure: Measure) -> Floats:
        """(n,), one value per query, by query id."""
        k = ALL if measure.cutoff is None else measure.cutoff.size
        return np.nan_to_num(MEASURES[measure.metric.name](self, k).astype(np.float64))


def _limit(v: Values, k: int) -> Ints:
    return np.full(v.n, k)


def _average_precision(v: Values, k: int) -> Floats:
    grade = np.ones(len(v.rank), np.int64)
    return graded.average_precision(v.rank, v.query, grade, _limit(v, k), k=k)


def _ndcg(v: Values, k: int) -> Floats:
    """Gains are linear, and no -l changes them."""
    positive = v.judged.grade > 0
    rank, query, grade = (a[positive] for a in (v.judged.rank, v.judged.query, v.judged.grade))
    return graded.ndcg(rank, query, grade, _limit(v, k), k=k, gain="linear")


def _bpref(v: Values, _: int) -> Floats:
    """Judged, not relevant documents above each relevant one, of the first num_rel.

    Source: Buckley & Voorhees 2004, doi:10.1145/1008992.1009000; bounded as trec_eval bounds it.
    """
    j = v.judged
    not_relevant = (j.grade >= 0) & (j.grade < v.relevant)
    known = not_relevant | (j.grade >= v.relevant)
    there = np.flatnonzero(known & (j.rank < NEVER))
    there = there[np.lexsort((j.rank[there], j.query[there]))]
    query, bad = j.query[there], not_relevant[there]
    above = np.cumsum(bad) - (np.cumsum(tally(query, bad, v.n)) - tally(query, bad, v.n))[query]
    most = np.minimum(np.bincount(j.query[not_relevant], minlength=v.n), v.num_rel)[query]
    lost = np.minimum(above, v.num_rel[query]) / np.maximum(most, 1)
    total = np.bincount(query[~bad], weights=1.0 - lost[~bad], minlength=v.n)
    return share(total, v.num_rel)


def _f(v: Values, _: int) -> Floats:
    """Harmonic mean of set precision and set recall."""
    precision = share(v.num_rel_ret, v.judged.returned)
    recall = share(v.num_rel_ret, v.num_rel)
    return share(2 * precision * recall, np.nan_to_num(precision + recall))


MEASURES: dict[str, Callable[[Values, int], Floats | Ints]] = {
    "num_q": lambda v, k: np.ones(v.n, np.int64),
    "num_ret": lambda v, k: v.judged.returned,
    "num_rel": lambda v, k: v.num_rel,
    "num_rel_ret": lambda v, k: v.num_rel_ret,
    "map": _average_precision,
    "Rprec": lambda v, k: share(v.within(v.num_rel), v.num_rel),
    "bpref": _bpref,
    "recip_rank": lambda v, k: found.mrr(v.rank, v.query, _limit(v, k)),
    "ndcg": _ndcg,
    "set_P": lambda v, k: share(v.num_rel_ret, v.judged.returned),
    "set_recall": lambda v, k: share(v.num_rel_ret, v.num_rel),
    "set_F": _f,
    "P": lambda v, k: v.within(k) / k,
    "recall": lambda v, k: share(v.within(k), v.num_rel),
    "success": lambda v, k: found.hit(v.rank, v.query, _limit(v, k)),
}
"""By the name of `names.TREC`."""
