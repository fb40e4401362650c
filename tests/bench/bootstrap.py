"""The cluster bootstrap against `scipy.stats.bootstrap`: python tests/bench/bootstrap.py.

100,000 questions in 5,000 clusters, 20 metrics × 50 slices, 10,000 replicates. scipy knows no
clusters: it draws the 100,000 questions of one column, 200 times, and its time is multiplied by the
columns and replicates that it could not finish.
"""

from __future__ import annotations

import resource
import time

import numpy as np
from scipy import stats

from rayeval.stats.clusters import Sums, means
from rayeval.stats.intervals import intervals

QUESTIONS, CLUSTERS, METRICS, SLICES, REPLICATES = 100_000, 5_000, 20, 50, 10_000
TRIED = 200


def columns() -> Sums:
    """Every metric's differences in every slice, added up by cluster."""
    rng = np.random.default_rng(1)
    codes = np.sort(rng.integers(0, CLUSTERS, QUESTIONS))
    values = rng.normal(0.01, 0.3, (QUESTIONS, METRICS))
    parts = []
    for _ in range(SLICES):
        inside = rng.random(QUESTIONS) < rng.uniform(0.02, 0.5)
        inside[-1] = True  # so that every slice counts as many clusters
        parts.append(means(values[inside], codes[inside]))
    return Sums(*(np.hstack([getattr(p, side) for p in parts]) for side in ("above", "below")))


def main() -> None:
    sums = columns()
    start = time.perf_counter()
    found = intervals(sums, seed=1, count=REPLICATES)
    ours = time.perf_counter() - start
    rng = np.random.default_rng(1)
    column = rng.normal(0.01, 0.3, QUESTIONS)
    start = time.perf_counter()
    stats.bootstrap((column,), np.mean, n_resamples=TRIED, method="percentile", batch=20, rng=rng)
    theirs = (time.perf_counter() - start) * len(found) * REPLICATES / TRIED
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"rayeval {ours:.1f} s for {len(found)} columns; scipy {theirs:,.0f} s (extrapolated)")
    print(f"ratio {theirs / ours:.0f} (bar: 1000), peak memory {peak:.2f} GiB (bar: 2 GB)")


if __name__ == "__main__":
    main()
