"""How far answers to one question differ, apart from how far questions do (DESIGN §7)."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rayeval.columns import Floats, Ints, combined
from rayeval.metrics.answers.per_answer import ANSWERED
from rayeval.metrics.spans import Bools
from rayeval.tables import TEXT

SPREAD = pa.schema(
    [
        ("stage", TEXT),
        ("metric", TEXT),
        ("questions", pa.int64()),  # that have a value
        ("repeated", pa.int64()),  # of them, those with several
        ("mean", pa.float64()),  # of the questions' means
        ("within", pa.float64()),
        ("between", pa.float64()),
    ]
)
"""Standard deviations: of answers around their question's mean, and of questions' true means."""
DUST = 1e-12
"""A variance of metrics below it is what rounding left of 0."""


def spread(per_answer: pa.Table) -> pa.Table:
    """SPREAD of a whole run's answers, sorted by question; of metrics that some question has twice.

    One-way analysis of variance: `within` is the pooled deviation of answers from their question's
    mean; `between` is that of the means, less what `within` adds to them (0 where nothing is left).
    Source: Searle, Casella & McCulloch 1992, doi:10.1002/9780470316856, §3.6 (unequal numbers).
    """
    question = combined(per_answer["question_id"]).dictionary_encode().indices
    code = question.to_numpy(zero_copy_only=False).astype(np.int64)
    names = [name for name in per_answer.column_names if name not in ANSWERED.names]
    rows = []
    for stage in pc.unique(per_answer["stage"]).to_pylist():
        here = np.asarray(combined(pc.equal(per_answer["stage"], stage)))
        for name in names:
            found = _deviations(combined(per_answer[name]).to_numpy(), code, here)
            if found["repeated"]:
                rows.append({"stage": stage, "metric": name, **found})
    return pa.Table.from_pylist(rows, schema=SPREAD)


def _deviations(values: Floats, code: Ints, here: Bools) -> dict[str, float]:
    """Of one metric at one stage."""
    there = here & ~np.isnan(values)
    _, at = np.unique(code[there], return_inverse=True)
    values, n = values[there], np.bincount(at)
    means = np.bincount(at, weights=values) / np.maximum(n, 1)
    free = len(values) - len(n)
    within = _clean(float(((values - means[at]) ** 2).sum()) / free) if free else math.nan
    between = math.nan
    if len(n) > 1 and free:
        between = _clean(float(means.var(ddof=1)) - within * float((1 / n).mean()))
    return {
        "questions": len(n),
        "repeated": int((n > 1).sum()),
        "mean": float(means.mean()) if len(n) else math.nan,
        "within": math.sqrt(within),
        "between": math.sqrt(between),
    }


def _clean(variance: float) -> float:
    """0 where nothing but dust is left, or less."""
    return variance if variance > DUST else 0.0
