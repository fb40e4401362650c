"""Poisson sums over shards, quantiles, exact limits, corrections and power."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from rayeval.stats import draws
from rayeval.stats.binomial import discordant_limits, exact_limits
from rayeval.stats.bootstrap import replicates
from rayeval.stats.clusters import Sums, means
from rayeval.stats.corrections import benjamini_hochberg, holm
from rayeval.stats.poisson import cluster_keys, partial
from rayeval.stats.power import detectable, questions_needed
from rayeval.stats.quantiles import percentile_interval, quantile_replicates


def rows(sums, places):
    return Sums(sums.above[places], sums.below[places])


def test_poisson_weights_are_poissons():
    weights = draws.poisson(1, range(2_000), cluster_keys(str(i) for i in range(100)))
    assert_allclose(weights.mean(), 1, atol=0.01)
    assert_allclose(weights.var(), 1, atol=0.02)
    assert_allclose((weights == 0).mean(), np.exp(-1), atol=0.005)
    across = np.corrcoef(weights[:, :40], rowvar=False)[np.triu_indices(40, 1)]
    assert np.abs(across).max() < 0.12


@pytest.mark.parametrize("clusters", [7, 64, 200])
def test_what_is_drawn_is_even_and_independent(clusters):
    """By replicate, by cluster, by seed and by purpose."""
    counts = draws.counts(3, range(4_000), clusters)
    assert (counts.sum(axis=1) == clusters).all()
    assert stats.chisquare(counts.sum(axis=0)).pvalue > 1e-4
    assert_allclose(counts.var(), 1 - 1 / clusters, rtol=0.05)
    assert abs(np.corrcoef(counts[:-1].ravel(), counts[1:].ravel())[0, 1]) < 0.02
    other = draws.counts(4, range(4_000), clusters)
    assert abs(np.corrcoef(counts.ravel(), other.ravel())[0, 1]) < 0.02
    signs = draws.signs(3, range(4_000), clusters)
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert abs(signs.mean()) < 4 / np.sqrt(signs.size)
    assert np.abs(signs.mean(axis=0)).max() < 5 / np.sqrt(4_000)
    assert abs(np.corrcoef(signs[:-1].ravel(), signs[1:].ravel())[0, 1]) < 0.02
    assert abs(np.corrcoef(signs.ravel(), counts.ravel())[0, 1]) < 0.02


@given(st.lists(st.integers(0, 3), min_size=20, max_size=20))
def test_poisson_sums_add_up_over_any_shards(shards):
    rng = np.random.default_rng(0)
    names = [f"문서 {i}" for i in range(20)]
    sums = means(rng.standard_normal((60, 2)), np.repeat(np.arange(20), 3))
    whole = partial(sums, names, seed=4, count=50)
    parts = []
    for shard in range(4):
        places = [i for i, where in enumerate(shards) if where == shard]
        parts.append(partial(rows(sums, places), [names[i] for i in places], seed=4, count=50))
    total = parts[0].plus(parts[1]).plus(parts[2]).plus(parts[3])
    assert_allclose(total.above, whole.above, atol=1e-9)
    assert_array_equal(total.below, whole.below)


def test_poisson_replicates_spread_like_the_exact_ones():
    rng = np.random.default_rng(2)
    sums = means(rng.exponential(size=(400, 1)), np.repeat(np.arange(200), 2))
    exact, _ = replicates(sums, seed=1, count=4_000)
    ours = partial(sums, [str(i) for i in range(200)], seed=1, count=4_000).replicates
    assert_allclose(ours.std(), exact.std(), rtol=0.05)
    assert_allclose(
        np.quantile(ours, [0.025, 0.975]), np.quantile(exact, [0.025, 0.975]), rtol=0.02
    )


def test_a_quantile_is_numpys_of_the_rows_that_were_drawn():
    rng = np.random.default_rng(3)
    values, clusters = rng.exponential(size=30), np.repeat(np.arange(10), 3)
    levels = [0, 0.5, 0.95, 1]
    ours = quantile_replicates(values, clusters, levels, seed=8, count=20)
    for number, counts in enumerate(draws.counts(8, range(20), 10)):
        repeated = np.repeat(values, counts[clusters].astype(int))
        assert_allclose(ours[number], np.quantile(repeated, levels))
    low, high = percentile_interval(ours[:, 2])
    assert low <= np.quantile(values, 0.95) * 1.5
    assert low < high


@pytest.mark.parametrize(("successes", "n"), [(0, 20), (20, 20), (7, 20), (1, 3)])
def test_exact_limits_are_scipys(successes, n):
    theirs = stats.binomtest(successes, n).proportion_ci(method="exact")
    assert_allclose(exact_limits(successes, n), [theirs.low, theirs.high])


def test_exact_limits_of_nothing_are_undefined():
    assert np.isnan(exact_limits(0, 0)).all()


@pytest.mark.parametrize(
    ("better", "worse", "sign"),
    [
        pytest.param(0, 0, 0, id="nothing changed"),
        pytest.param(3, 3, 0, id="as many better as worse"),
        pytest.param(0, 12, -1, id="only worse"),
        pytest.param(12, 0, 1, id="only better"),
    ],
)
def test_limits_of_a_difference_of_shares(better, worse, sign):
    low, high = discordant_limits(better, worse, 40)
    assert -1 <= low < high <= 1
    assert (low > 0, high < 0) == (sign > 0, sign < 0)


def test_holm_by_hand_and_its_blanks():
    assert_allclose(holm(np.array([0.04, np.nan, 0.01, 0.03])), [0.06, np.nan, 0.03, 0.06])
    assert_allclose(holm(np.array([0.9, 0.8])), [1.0, 1.0])
    assert_array_equal(holm(np.array([])), [])


def test_benjamini_hochberg_leaves_blanks_out():
    assert_allclose(
        benjamini_hochberg(np.array([0.01, np.nan, 0.02, 0.9])), [0.03, np.nan, 0.03, 0.9]
    )
    assert np.isnan(benjamini_hochberg(np.array([np.nan]))).all()


def test_the_detectable_difference_is_detected_four_times_of_five():
    rng = np.random.default_rng(0)
    true = detectable(1 / np.sqrt(50))
    seen = rng.normal(true, 1, (4_000, 50)).mean(axis=1) * np.sqrt(50)
    assert_allclose((np.abs(seen) > 1.96).mean(), 0.8, atol=0.02)


@pytest.mark.parametrize(
    ("difference", "error", "want"),
    [
        pytest.param(0.05, 0.05 / 2.8015852, 100, id="what is just detectable needs what there is"),
        pytest.param(0.025, 0.05 / 2.8015852, 400, id="half of it needs four times as many"),
        pytest.param(0.0, 0.1, None, id="no difference"),
        pytest.param(0.1, 0.0, None, id="no spread"),
        pytest.param(0.1, float("nan"), None, id="unknown spread"),
    ],
)
def test_questions_needed(difference, error, want):
    found = questions_needed(difference, error, 100)
    assert found is None if want is None else abs(found - want) <= 1
