"""The cluster bootstrap: worked cases, an oracle, coverage, and the same bits in any block."""

from random import Random

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rayeval.stats import bootstrap, draws
from rayeval.stats.bootstrap import on_grid, replicates, sign_flip_p
from rayeval.stats.clusters import intra_cluster_correlation, means, ratios
from rayeval.stats.intervals import intervals

# Four documents of five questions each, as NOTES has it: a regression to whoever forgets documents.
DOCUMENTS = np.repeat([-0.4, -0.3, 0.1, 0.1], 5)[:, None]
OF_DOCUMENT = np.repeat(np.arange(4), 5)


def simulated(clusters, size, correlation, columns, seed=1):
    """Values whose questions are correlated within clusters, a true mean of 0 in every column."""
    rng = np.random.default_rng(seed)
    shared = rng.standard_normal((clusters, columns)) * np.sqrt(correlation)
    own = rng.standard_normal((clusters * size, columns)) * np.sqrt(1 - correlation)
    codes = np.repeat(np.arange(clusters), size)
    return shared[codes] + own, codes


def covered(found, truth=0.0):
    return np.mean([each.low <= truth <= each.high for each in found])


def test_four_documents_of_five_questions_are_no_regression():
    [found] = intervals(means(DOCUMENTS, OF_DOCUMENT), seed=42)
    assert found.clusters == 4
    assert_allclose(found.estimate, -0.125)
    assert found.low < -0.35
    assert found.high > 0.1
    assert sign_flip_p(means(DOCUMENTS, OF_DOCUMENT), seed=42)[0] > 0.3


def test_as_if_questions_were_strangers_the_same_figures_would_be_a_regression():
    [found] = intervals(means(DOCUMENTS, np.arange(20)), seed=42)
    assert found.high < 0


def test_too_many_still_replicates_leave_students_t():
    """Two clusters: half of the replicates draw one of them twice and have no spread."""
    values = np.array([[0.1], [0.3]])
    [found] = intervals(means(values, np.arange(2)), seed=1)
    assert found.method == "student_t"
    reach = stats.t.ppf(0.975, 1) * stats.sem(values[:, 0])
    assert_allclose([found.low, found.high], [0.2 - reach, 0.2 + reach])


@pytest.mark.parametrize(
    ("values", "clusters", "method"),
    [
        pytest.param([0.1, 0.2], [0, 0], "none", id="one cluster has no interval"),
        pytest.param([], [], "none", id="nothing"),
        pytest.param([np.nan, np.nan], [0, 1], "none", id="nothing defined"),
        pytest.param([0.5] * 40, range(40), "percentile", id="no spread at all: no correction"),
        pytest.param([0.5] * 10, range(10), "student_t", id="few and no spread"),
    ],
)
def test_where_the_usual_way_is_undefined(values, clusters, method):
    sums = means(np.array(values, float).reshape(-1, 1), np.array(list(clusters), np.int64))
    [found] = intervals(sums, seed=1)
    assert found.method == method
    if method == "none":
        assert np.isnan([found.low, found.high]).all()
    else:
        assert found.low == found.high == 0.5


def test_limits_stay_in_the_possible_range():
    values = np.array([[1.0], [1.0], [1.0], [0.9], [-1.0]])
    [found] = intervals(means(values, np.arange(5)), seed=1, possible=(-1.0, 1.0))
    assert found.low >= -1
    assert found.high <= 1


def test_bca_is_scipys_within_what_another_draw_changes():
    rng = np.random.default_rng(0)
    values = rng.exponential(size=60)
    ours = intervals(means(values[:, None], np.arange(60)), seed=3)[0]
    theirs = stats.bootstrap((values,), np.mean, n_resamples=10_000, method="BCa", rng=rng)
    assert ours.method == "bca"
    limits = theirs.confidence_interval
    assert_allclose([ours.low, ours.high], [limits.low, limits.high], rtol=0.03)


def test_means_leave_out_what_is_undefined_and_count_by_question():
    values = np.array([[1.0], [np.nan], [0.0], [0.0]])
    sums = means(values, np.array([0, 0, 1, 1]))
    assert_allclose(sums.estimate, [1 / 3])
    assert_array_equal(sums.below[:, 0], [1, 2])


def test_a_ratio_of_two_runs_is_over_questions_that_both_have():
    new, base = np.array([[2.0], [9.0], [4.0]]), np.array([[1.0], [np.nan], [3.0]])
    assert_allclose(ratios(new, base, np.arange(3)).estimate, [6 / 4])


@pytest.mark.parametrize(
    ("clusters", "size", "low", "high"),
    [
        pytest.param(60, 10, 0.935, 0.965, id="60 clusters: BCa"),
        pytest.param(12, 10, 0.93, 0.97, id="12 clusters: bootstrap-t"),
    ],
)
def test_an_interval_of_95_percent_covers_95_percent(clusters, size, low, high):
    values, codes = simulated(clusters, size, 0.3, columns=2_000)
    found = intervals(means(values, codes), seed=5, count=2_000)
    assert low <= covered(found) <= high


def test_without_clusters_far_fewer_are_covered():
    values, _ = simulated(60, 10, 0.3, columns=1_000)
    found = intervals(means(values, np.arange(600)), seed=5, count=1_000)
    assert covered(found) < 0.85


@pytest.mark.parametrize("clusters", [60, 12])
def test_no_difference_is_claimed_in_one_of_twenty(clusters):
    values, codes = simulated(clusters, 10, 0.3, columns=2_000, seed=9)
    claimed = (sign_flip_p(means(values, codes), seed=5, count=1_000) <= 0.05).mean()
    assert 0.035 <= claimed <= 0.065


def test_a_permutation_p_value_is_never_zero():
    sums = means(np.ones((30, 1)), np.arange(30))
    assert_allclose(sign_flip_p(sums, seed=1, count=99), [0.01])
    assert np.isnan(sign_flip_p(means(np.full((3, 1), np.nan), np.arange(3)), seed=1, count=9))


@pytest.mark.parametrize(
    ("values", "clusters", "want"),
    [
        pytest.param([1, 1, 0, 0], [0, 0, 1, 1], 1.0, id="alike within, apart between"),
        pytest.param([1, 0, 1, 0], [0, 0, 1, 1], -1.0, id="apart within, alike between"),
        pytest.param([1, 0], [0, 1], np.nan, id="nobody shares a cluster"),
        pytest.param([1, 0], [0, 0], np.nan, id="one cluster"),
    ],
)
def test_intra_cluster_correlation(values, clusters, want):
    found = intra_cluster_correlation(np.array(values, float), np.array(clusters))
    assert_allclose(found, want)


def test_the_correlation_that_was_planted_is_found():
    values, codes = simulated(2_000, 5, 0.3, columns=1)
    assert_allclose(intra_cluster_correlation(values[:, 0], codes), 0.3, atol=0.03)


@settings(max_examples=30)
@given(st.integers(1, 40), st.integers(0, 2**63), st.data())
def test_replicates_are_the_same_in_any_block(clusters, seed, data):
    """And so for any number of workers: draws belong to (seed, replicate), sums are exact."""
    rng = np.random.default_rng(clusters)
    sums = means(rng.standard_normal((clusters * 3, 2)), np.repeat(np.arange(clusters), 3))
    whole, _ = replicates(sums, seed=seed, count=50)
    cells, bootstrap._CELLS = bootstrap._CELLS, data.draw(st.integers(1, 200))
    try:
        assert_array_equal(replicates(sums, seed=seed, count=50)[0], whole)
    finally:
        bootstrap._CELLS = cells
    apart = np.vstack([draws.counts(seed, range(n, n + 1), clusters) for n in (7, 3)])
    assert_array_equal(apart, draws.counts(seed, range(8), clusters)[[7, 3]])


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60), st.randoms())
@example([2.2e-311], Random(0))
def test_sums_on_a_grid_do_not_depend_on_their_order(values, random):
    column = on_grid(np.array(values)[:, None])[:, 0]
    shuffled = column.tolist()
    random.shuffle(shuffled)
    assert sum(shuffled) == sum(column.tolist()) == column.sum()
    assert_allclose(column, values, atol=np.abs(values).max() * len(values) * 2.0**-50)
