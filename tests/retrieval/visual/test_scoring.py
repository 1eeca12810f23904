"""Scores of samples under mixtures: against plain computations, and the chapter's dice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordsight.errors import RetrievalError
from wordsight.inference.mixtures.gaussian import Mixtures
from wordsight.retrieval.visual import (
    CollectionBackground,
    PackedMixtures,
    log_densities,
    log_likelihoods,
    log_mean_density,
    smoothed_gains,
)
from wordsight.retrieval.visual.scoring import reference_rows, rough_gains, sampling_keys


def some_mixtures(count, components=3, dimensions=4, seed=0):
    random = np.random.default_rng(seed)
    return Mixtures(
        random.dirichlet(np.ones(components), count),
        random.normal(0, 1, (count, components, dimensions)),
        random.uniform(0.2, 1.5, (count, components, dimensions)),
    )


def some_samples(count, dimensions=4, seed=1):
    return np.random.default_rng(seed).normal(0, 1.5, (count, dimensions))


def die(faces):
    """A die as a mixture: a narrow Gaussian at each number, weighing its share of the faces."""
    shares = np.array([[faces.count(face) / len(faces) for face in range(1, 7)]])
    return Mixtures(shares, np.arange(1.0, 7.0).reshape(1, 6, 1), np.full((1, 6, 1), 1e-4))


FAIR, LOADED = [1, 2, 3, 4, 5, 6], [1, 1, 3, 4, 5, 6]
PEAK = -0.5 * np.log(2 * np.pi * 1e-4)  # log density of such a Gaussian at its number


def test_the_dice_of_the_chapter():
    throws = np.array([4.0, 3, 4, 3, 1])[:, None]
    fair, loaded = (log_likelihoods(PackedMixtures.pack(die(d)), throws)[0] for d in (FAIR, LOADED))
    np.testing.assert_allclose(5 * (fair - PEAK), np.log((1 / 6) ** 5), atol=1e-6)
    np.testing.assert_allclose(5 * (loaded - PEAK), np.log((1 / 6) ** 4 * 2 / 6), atol=1e-6)


def test_picking_one_of_two_dice_first():
    # A fair die and one with ones on all faces, equally likely: P(1) = 7/12, else 1/12.
    both = Mixtures(
        *(
            np.concatenate(parts)
            for parts in zip(
                *((m.weights, m.means, m.variances) for m in (die(FAIR), die([1] * 6))), strict=True
            )
        )
    )
    found = log_mean_density(PackedMixtures.pack(both), np.array([[1.0], [2.0], [6.0]]))
    np.testing.assert_allclose(np.exp(found - PEAK), [7 / 12, 1 / 12, 1 / 12], atol=1e-6)


# Blocks hold 16 (or 64) documents and 256 samples: fewer, exactly one, one more, several.
@pytest.mark.parametrize("documents", [1, 15, 16, 17, 70])
@pytest.mark.parametrize("samples", [1, 255, 257, 1100])
def test_scores_equal_plain_computations(documents, samples):
    packed = PackedMixtures.pack(some_mixtures(documents))
    values = some_samples(samples)
    plain = packed.mixtures().log_densities(values)
    background = np.logaddexp.reduce(plain, axis=0) - np.log(documents)
    np.testing.assert_allclose(log_densities(packed, values), plain, atol=1e-9)
    np.testing.assert_allclose(log_likelihoods(packed, values), plain.mean(axis=1), atol=1e-9)
    np.testing.assert_allclose(log_mean_density(packed, values), background, atol=1e-9)
    smoothed = np.log1p(9.0 * np.exp(plain - background)).mean(axis=1)
    found = smoothed_gains(packed, values, background, 0.9)
    np.testing.assert_allclose(found, smoothed, atol=1e-12)
    single = smoothed_gains(packed, values, background, 0.9, "single")
    np.testing.assert_allclose(single, smoothed, atol=2e-5)


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), kappa=st.floats(0.05, 0.99))
def test_both_forms_of_the_smoothed_score_rank_alike(seed, kappa):
    packed = PackedMixtures.pack(some_mixtures(12, seed=seed))
    values = some_samples(30, seed=seed)
    plain = packed.mixtures().log_densities(values)
    background = log_mean_density(packed, values)
    mixed = np.log(kappa * np.exp(plain) + (1 - kappa) * np.exp(background)).mean(axis=1)
    gains = smoothed_gains(packed, values, background, kappa)
    constant = (np.log(1 - kappa) + background).mean()
    np.testing.assert_allclose(gains + constant, mixed, atol=1e-9)
    np.testing.assert_array_equal(np.argsort(-gains), np.argsort(-mixed))


def test_a_common_sample_counts_less_than_a_telling_one():
    # Both documents have the sky at 0; only the second has the elk at 5.
    sky, elk = [0.0], [5.0]
    mixtures = Mixtures([[0.5, 0.5]] * 2, [[sky, sky], [sky, elk]], np.full((2, 2, 1), 0.1))
    packed = PackedMixtures.pack(mixtures)
    samples = np.array([sky, elk])
    background = log_mean_density(packed, samples)
    of_sky, of_elk = (
        smoothed_gains(packed, samples[n : n + 1], background[n : n + 1], 0.9) for n in range(2)
    )
    assert abs(of_sky[1] - of_sky[0]) < of_elk[1] - of_elk[0]


def test_an_unknown_dimension_is_integrated_out():
    packed = PackedMixtures.pack(some_mixtures(9))
    values = some_samples(50)
    unknown = values.copy()
    unknown[:, [1, 3]] = np.nan
    full = packed.mixtures()
    less = Mixtures(full.weights, full.means[:, :, [0, 2]], full.variances[:, :, [0, 2]])
    expected = less.log_densities(values[:, [0, 2]])
    np.testing.assert_allclose(log_densities(packed, unknown), expected, atol=1e-9)
    background = log_mean_density(packed, unknown)
    gains = np.log1p(np.exp(expected - background)).mean(axis=1)
    np.testing.assert_allclose(smoothed_gains(packed, unknown, background, 0.5), gains, atol=1e-12)


def test_packing_keeps_the_mixture():
    mixtures = some_mixtures(5)
    back = PackedMixtures.pack(mixtures).mixtures()
    np.testing.assert_allclose(back.means, mixtures.means, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(back.variances, mixtures.variances, rtol=1e-6)
    np.testing.assert_allclose(back.weights, mixtures.weights, rtol=1e-9)
    # Packing what was packed changes no bit: the model is the one that is kept.
    again = PackedMixtures.pack(back)
    np.testing.assert_array_equal(again.factors, PackedMixtures.pack(mixtures).factors)


@pytest.mark.parametrize("unknown", [(), (0, 3)])
def test_a_first_look_is_the_smoothed_score_in_single_precision(unknown):
    packed = PackedMixtures.pack(some_mixtures(1030))  # more than two blocks
    values = some_samples(32)
    values[:, list(unknown)] = np.nan
    background = log_mean_density(packed, values)
    exact = smoothed_gains(packed, values, background, 0.9)
    np.testing.assert_allclose(rough_gains(packed, values, background, 0.9), exact, rtol=1e-4)
    weights = np.random.default_rng(2).random(32)
    exact = smoothed_gains(packed, values, background, 0.9, weights=weights)
    each = [
        smoothed_gains(packed, values[n : n + 1], background[n : n + 1], 0.9) for n in range(32)
    ]
    np.testing.assert_allclose(exact, weights @ np.array(each) / 32, atol=1e-12)
    rough = rough_gains(packed, values, background, 0.9, weights)
    np.testing.assert_allclose(rough, exact, rtol=1e-4)
    far = values + 1e4
    assert np.isfinite(rough_gains(packed, far, np.full(32, -80.0), 0.9)).all()


def test_a_component_without_weight_adds_nothing():
    with_idle = Mixtures([[1.0, 0.0]], [[[0.0], [1.0]]], np.ones((1, 2, 1)))
    alone = Mixtures([[1.0]], [[[0.0]]], np.ones((1, 1, 1)))
    values = np.linspace(-3, 3, 7)[:, None]
    np.testing.assert_allclose(
        log_densities(PackedMixtures.pack(with_idle), values),
        log_densities(PackedMixtures.pack(alone), values),
        atol=1e-12,
    )


def test_nothing_overflows_far_from_everything():
    packed = PackedMixtures.pack(some_mixtures(3))
    far = np.array([[1e6, 0, 0, 0], [0.0, 0, 0, 0]])
    background = CollectionBackground(packed, 0.2)
    for precision in ("double", "single"):
        gains = smoothed_gains(packed, far, background.log_density(far), 0.9, precision)
        assert np.all(np.isfinite(gains)) and np.all(gains >= 0)
    # A document that explains what the reference never saw gains much, but not without end.
    near = PackedMixtures.pack(Mixtures([[1.0]], far[:1][None], np.full((1, 1, 4), 0.2)))
    gain = smoothed_gains(near, far[:1], background.log_density(far[:1]), 0.9)[0]
    assert 70 < gain < 90


def test_the_background_does_not_depend_on_the_order_of_documents():
    names = [f"shot-{n}" for n in range(2000)]
    chosen = {names[row] for row in reference_rows(sampling_keys(names), 100)}
    turned = names[::-1]
    assert {turned[row] for row in reference_rows(sampling_keys(turned), 100)} == chosen
    assert len(chosen) == 100
    np.testing.assert_array_equal(reference_rows(sampling_keys(names[:50]), 100), np.arange(50))


@pytest.mark.parametrize(
    "samples",
    [
        np.zeros((0, 4)),  # none
        np.zeros(4),  # not a table
        np.full((2, 4), np.nan),  # nothing known at all
        np.array([[0, 0, np.nan, 0], [0, 0, 0, 0.0]]),  # known of one sample only
        np.array([[np.inf, 0, 0, 0.0]]),
        np.zeros((2, 3)),  # other features
    ],
)
def test_samples_that_do_not_fit_are_refused(samples):
    packed = PackedMixtures.pack(some_mixtures(2))
    with pytest.raises(RetrievalError):
        log_likelihoods(packed, samples)
