"""Agreement beyond chance: by hand, and as other tools compute it."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics import cohen_kappa_score

from rayeval.calibration import calibrated
from rayeval.interop.labels import SCHEMA
from rayeval.stats import agreement as agreed


def table(first, second, k):
    one = np.zeros(len(first), np.int64)
    return agreed.tables(np.array(first), np.array(second), one, k)[0]


def test_kappa_of_cohens_textbook_table():
    """20 of 25 and 15 of 25 yes, 35 of 50 alike: po .7, pe .5, κ .4."""
    counts = np.array([[20.0, 5.0], [10.0, 15.0]])
    assert_allclose(agreed.agreement(counts), 0.7)
    assert_allclose(agreed.kappa(counts), 0.4)
    assert_allclose(agreed.sensitivity(counts, 1), 15 / 25)
    assert_allclose(agreed.specificity(counts, 1), 20 / 25)


@pytest.mark.parametrize("weights", ["none", "linear", "quadratic"])
@settings(max_examples=60, deadline=None)
@given(data=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=40))
def test_kappa_is_sklearns(weights, data):
    first, second = map(list, zip(*data, strict=True))
    if len(set(first + second)) < 2:
        assert np.isnan(agreed.kappa(table(first, second, 4), weights))
        return
    want = cohen_kappa_score(
        first, second, labels=[0, 1, 2, 3], weights=None if weights == "none" else weights
    )
    assert_allclose(agreed.kappa(table(first, second, 4), weights), want, atol=1e-12)


KRIPPENDORFF = [
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
]
"""Krippendorff 2011, section C: 4 observers, 12 units, gaps."""


def test_alpha_of_krippendorffs_own_example():
    rows = [row.split() for row in KRIPPENDORFF]
    counts = np.array(
        [[sum(row[u] == str(c) for row in rows) for c in range(1, 6)] for u in range(12)], float
    )
    together = agreed.coincidences(counts).sum(axis=0)
    assert round(float(agreed.alpha(together, "nominal")), 3) == 0.743
    assert round(float(agreed.alpha(together, "ordinal")), 3) == 0.815
    assert together.sum() == 40


def test_alpha_of_two_without_gaps_is_that_of_their_table():
    first, second = [0, 1, 2, 2, 1, 0, 3], [0, 2, 2, 1, 1, 0, 3]
    counts = np.zeros((7, 4))
    for unit, (a, b) in enumerate(zip(first, second, strict=True)):
        counts[unit, a] += 1
        counts[unit, b] += 1
    want = table(first, second, 4)
    assert_allclose(agreed.coincidences(counts).sum(axis=0), want + want.T)


def test_one_label_everywhere_leaves_nothing_to_agree_on_beyond_chance():
    counts = np.array([[9.0, 0.0], [0.0, 0.0]])
    assert agreed.agreement(counts) == 1
    assert np.isnan(agreed.kappa(counts))
    assert np.isnan(agreed.alpha(counts + counts.T, "nominal"))
    assert np.isnan(agreed.sensitivity(counts, 1))
    assert np.isnan(agreed.agreement(np.zeros((2, 2))))


def test_replicates_draw_clusters_whole_and_the_same_for_any_split():
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.arange(6), 5)
    tables = agreed.tables(rng.integers(0, 3, 30), rng.integers(0, 3, 30), clusters, 3)
    drawn = agreed.replicated(tables, seed=1, count=200)
    assert drawn.shape == (200, 3, 3)
    assert (drawn.sum(axis=(1, 2)) == 30).all()
    assert (drawn == agreed.replicated(tables, seed=1, count=300)[:200]).all()


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_the_order_of_labels_decides_nothing(seed):
    rng = np.random.default_rng(seed)
    items = [f"문항 {n}" for n in range(12)]
    rows = [
        {
            "item_id": item,
            "label": str(rng.integers(0, 4)),
            "annotator": who,
            "cluster": f"c{n % 5}",
            "language": ["ko", "en", None][n % 3],
            "author": "ab"[n % 2],
            "inclusion_probability": 1 / (1 + n % 3),
        }
        for n, item in enumerate(items)
        for who in ("김", "lee", "박")
        if rng.random() < 0.8
    ]
    human = pl.DataFrame([dict.fromkeys(SCHEMA) | row for row in rows], schema=SCHEMA)
    judge = human.unique("item_id", keep="any").with_columns(
        label=pl.col("item_id").hash(1).mod(4).cast(pl.String), annotator=None
    )
    found = calibrated(human, judge, itself="a")
    shuffled = [one.sample(fraction=1, shuffle=True, seed=seed) for one in (human, judge)]
    assert json.dumps(calibrated(*shuffled, itself="a")) == json.dumps(found)
    for name in ("agreement", "kappa", "kappa_linear", "kappa_quadratic", "alpha"):
        value = found[name]
        assert value is None or -1 - 1e-12 <= value <= 1
