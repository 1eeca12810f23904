"""Mixtures: EM never falls, batches change nothing, and scikit-learn finds the same."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordsight.inference.mixtures.gaussian import (
    MixtureError,
    Mixtures,
    fit_mixtures,
    from_assignments,
    reseed_mixture,
    start_mixture,
)

FLOOR = np.full(3, 1e-3)


def bag(seed, count=400, dimensions=3):
    """Samples around a few centres, some of them equal."""
    random = np.random.default_rng(seed)
    centres = random.normal(0, 2, (4, dimensions))
    samples = centres[random.integers(4, size=count)] + random.normal(0, 0.3, (count, dimensions))
    samples[: count // 5] = samples[0]
    return samples


def started(bags, components=4, seed=0):
    random = np.random.default_rng(seed)
    floor = np.full(bags[0].shape[1], 1e-3)
    parts = [start_mixture(each, components, floor, random) for each in bags]
    return Mixtures(
        np.concatenate([p.weights for p in parts]),
        np.concatenate([p.means for p in parts]),
        np.concatenate([p.variances for p in parts]),
    )


@settings(max_examples=30)
@given(
    seed=st.integers(0, 10_000),
    count=st.integers(1, 700),
    components=st.integers(1, 9),
    start=st.sampled_from(["seeds", "random"]),
)
def test_the_likelihood_never_falls(seed, count, components, start):
    samples = bag(seed, count)
    first = start_mixture(samples, components, FLOOR, np.random.default_rng(seed), start)
    fits = fit_mixtures([samples], first, FLOOR, max_iterations=30, tolerance=1e-9)
    history = fits.histories[0]
    assert np.all(np.diff(history) > -1e-9 * np.maximum(1, np.abs(history[:-1])))
    assert np.isclose(fits.mixtures.weights.sum(), 1)
    assert np.all(fits.mixtures.variances >= FLOOR)
    assert np.isclose(fits.mixtures.log_densities(samples).mean(), fits.log_likelihoods[0])


# A block holds 256 samples: fewer, exactly one, one more, several.
@pytest.mark.parametrize("count", [1, 5, 255, 256, 257, 1000])
def test_the_kernel_computes_what_plain_numpy_does(count):
    samples = bag(1, count)
    start = start_mixture(samples, 3, FLOOR, np.random.default_rng(0))
    fast, plain = (
        fit_mixtures([samples], start, FLOOR, max_iterations=8, tolerance=-np.inf, backend=backend)
        for backend in ("compiled", "reference")
    )
    np.testing.assert_allclose(fast.histories[0], plain.histories[0], rtol=1e-9)
    np.testing.assert_allclose(fast.mixtures.means, plain.mixtures.means, atol=1e-8)
    np.testing.assert_allclose(fast.mixtures.variances, plain.mixtures.variances, rtol=1e-6)


def test_a_batch_equals_one_by_one():
    bags = [bag(seed, 50 + 97 * seed) for seed in range(70)]  # more than are laid out together
    start = started(bags)
    together = fit_mixtures(bags, start, FLOOR)
    for d in (0, 1, 63, 64, 69):
        alone = fit_mixtures([bags[d]], start[d], FLOOR)
        np.testing.assert_array_equal(alone.mixtures.means[0], together.mixtures.means[d])
        np.testing.assert_array_equal(alone.histories[0], together.histories[d])


@pytest.mark.slow
def test_scikit_learn_finds_the_same():
    from sklearn.mixture import GaussianMixture

    samples = np.random.default_rng(3).normal(size=(600, 3)) + np.repeat([[0], [4]], 300, axis=0)
    start = start_mixture(samples, 4, FLOOR, np.random.default_rng(0))
    ours = fit_mixtures([samples], start, 1e-9, max_iterations=21, tolerance=-np.inf)
    theirs = GaussianMixture(
        4,
        covariance_type="diag",
        tol=0,
        max_iter=20,
        reg_covar=0,
        weights_init=start.weights[0],
        means_init=start.means[0],
        precisions_init=1 / start.variances[0],
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has not converged
        theirs.fit(samples)
    np.testing.assert_allclose(ours.mixtures.means[0], theirs.means_, atol=1e-8)
    np.testing.assert_allclose(ours.log_likelihoods[0], theirs.score(samples), atol=1e-9)


def test_equal_samples_stop_at_the_floor():
    samples = np.full((300, 3), 7.0)
    start = start_mixture(samples, 8, FLOOR, np.random.default_rng(0))
    fits = fit_mixtures([samples], start, FLOOR)
    assert np.all(np.isfinite(fits.mixtures.means))
    np.testing.assert_allclose(fits.mixtures.variances, np.broadcast_to(FLOOR, (1, 8, 3)))
    expected = -0.5 * np.log(2 * np.pi * FLOOR).sum()
    np.testing.assert_allclose(fits.log_likelihoods[0], expected)


def test_a_component_without_weight_stays_out():
    samples = bag(5)
    start = start_mixture(samples, 3, FLOOR, np.random.default_rng(0))
    weights = np.array([[0.5, 0.5, 0.0]])
    fits = fit_mixtures([samples], Mixtures(weights, start.means, start.variances), FLOOR)
    assert fits.mixtures.weights[0, 2] == 0
    assert np.isfinite(fits.histories[0]).all()


def test_an_idle_component_is_moved_to_what_is_explained_worst():
    samples = np.concatenate([np.random.default_rng(0).normal(0, 0.1, (99, 3)), [[9.0, 9, 9]]])
    idle = Mixtures([[1.0, 0.0]], [[[0.0] * 3, [50.0] * 3]], np.ones((1, 2, 3)))
    moved = reseed_mixture(samples, idle, FLOOR)
    np.testing.assert_array_equal(moved.means[0, 1], [9.0, 9, 9])
    fits = [fit_mixtures([samples], each, FLOOR).log_likelihoods[0] for each in (idle, moved)]
    assert fits[1] > fits[0]
    assert (
        reseed_mixture(samples, Mixtures([[0.9, 0.1]], idle.means, idle.variances), FLOOR) is None
    )


def test_random_assignment_starts_where_the_samples_are():
    samples = bag(2)
    start = from_assignments(samples, np.zeros(len(samples), dtype=int), 2, FLOOR)
    np.testing.assert_allclose(start.means[0, 0], samples.mean(axis=0))
    np.testing.assert_allclose(start.means[0, 1], samples.mean(axis=0))  # owns nothing
    assert start.weights[0, 1] < start.weights[0, 0]


def test_what_is_drawn_has_the_moments_of_the_mixture():
    mixture = Mixtures([[0.25, 0.75]], [[[0.0, 10.0], [4.0, 10.0]]], np.full((1, 2, 2), 0.25))
    samples, component = mixture.draw(0, 40_000, np.random.default_rng(0))
    np.testing.assert_allclose(samples.mean(axis=0), [3.0, 10.0], atol=0.05)
    np.testing.assert_allclose(samples.std(axis=0), [np.sqrt(3.25), 0.5], rtol=0.02)
    assert np.isclose((component == 0).mean(), 0.25, atol=0.01)


@pytest.mark.parametrize(
    "samples",
    [
        np.zeros((0, 3)),  # no sample
        np.zeros((5, 2)),  # another number of dimensions
        np.full((5, 3), np.nan),  # not numbers
        np.zeros(5),  # not a table
    ],
)
def test_samples_that_do_not_fit_are_refused(samples):
    start = Mixtures([[1.0]], np.zeros((1, 1, 3)), np.ones((1, 1, 3)))
    with pytest.raises(MixtureError):
        fit_mixtures([samples], start, FLOOR)


@pytest.mark.parametrize(
    ("weights", "means", "variances"),
    [
        ([[1.0]], np.zeros((1, 2, 3)), np.ones((1, 2, 3))),  # one weight for two components
        ([[1.0]], np.zeros((1, 1, 3)), np.zeros((1, 1, 3))),  # no variance
        ([[1.0]], np.full((1, 1, 3), np.inf), np.ones((1, 1, 3))),  # nowhere
    ],
)
def test_parameters_that_do_not_fit_are_refused(weights, means, variances):
    with pytest.raises(MixtureError):
        Mixtures(weights, means, variances)


def test_starts_and_samples_must_match():
    start = Mixtures([[1.0]], np.zeros((1, 1, 3)), np.ones((1, 1, 3)))
    with pytest.raises(MixtureError, match="2 arrays"):
        fit_mixtures([np.zeros((4, 3))] * 2, start, FLOOR)
