"""Mixtures on torch: the same fits and scores as on the processor, in both precisions."""

import numpy as np
import pytest

from wordsight.inference import Mixtures, fit_mixtures
from wordsight.inference.gpu import DeviceWarning, fit_mixtures_on, mixtures_on
from wordsight.inference.gpu import mixtures as fitting
from wordsight.inference.mixtures.gaussian import MixtureError, start_mixture
from wordsight.retrieval.visual.packing import PackedMixtures
from wordsight.retrieval.visual.scoring import smoothed_gains

torch = pytest.importorskip("torch", reason="the extra 'gpu' (torch) is not installed")

FLOOR = np.full(3, 0.05)


def bags(counts, *, far=0.0):
    found = []
    for seed, count in enumerate(counts):
        rng = np.random.default_rng(seed)
        centres = rng.normal(0, 2, (4, 3)) + far
        found.append(centres[rng.integers(4, size=count)] + rng.normal(0, 0.4, (count, 3)))
    return found


def starts_of(samples, components=4):
    rng = np.random.default_rng(7)
    parts = [start_mixture(each, components, FLOOR, rng) for each in samples]
    return Mixtures(
        *(
            np.concatenate([getattr(p, name) for p in parts])
            for name in ("weights", "means", "variances")
        )
    )


CASES = {  # sample counts, iterations, tolerance
    "bags of many sizes that stop at different times": ([300, 41, 5, 1, 256], 30, 1e-3),
    "one look, no step": ([50, 60], 1, 0.0),
    "no early stop": ([200, 300], 12, -np.inf),
}


@pytest.mark.parametrize("double", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_fits_equal_the_processors(name, double):
    counts, iterations, tolerance = CASES[name]
    samples = bags(counts)
    starts = starts_of(samples)
    options = {"max_iterations": iterations, "tolerance": tolerance}
    wanted = fit_mixtures(samples, starts, FLOOR, **options)
    found = fit_mixtures_on(samples, starts, FLOOR, "torch-cpu", double=double, **options)
    atol = 1e-8 if double else 2e-3
    np.testing.assert_allclose(found.log_likelihoods, wanted.log_likelihoods, atol=atol)
    np.testing.assert_allclose(found.mixtures.weights, wanted.mixtures.weights, atol=atol)
    np.testing.assert_allclose(found.mixtures.means, wanted.mixtures.means, atol=10 * atol)
    if double:
        assert list(map(len, found.histories)) == list(map(len, wanted.histories))
        for one, other in zip(found.histories, wanted.histories, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-8)


def test_batches_of_any_size_give_the_same(monkeypatch):
    samples = bags([30, 90, 20, 70, 40])
    starts = starts_of(samples)
    whole = fit_mixtures_on(samples, starts, FLOOR, "torch-cpu", double=True)
    monkeypatch.setattr(fitting, "_BYTES_PER_BATCH", 8000)
    assert len(fitting._batches(samples, starts)) > 2
    parts = fit_mixtures_on(samples, starts, FLOOR, "torch-cpu", double=True)
    np.testing.assert_allclose(parts.mixtures.means, whole.mixtures.means, atol=1e-10)


def test_samples_far_from_zero_lose_nothing():
    samples = bags([200, 300], far=1000.0)
    starts = starts_of(samples)
    wanted = fit_mixtures(samples, starts, FLOOR, tolerance=1e-3)
    found = fit_mixtures_on(samples, starts, FLOOR, "torch-cpu", tolerance=1e-3)
    np.testing.assert_allclose(found.log_likelihoods, wanted.log_likelihoods, atol=2e-3)


def test_what_float32_cannot_hold_is_fitted_on_the_processor_and_said():
    # Two lumps, each far narrower than single precision resolves at their distance.
    rng = np.random.default_rng(0)
    lumps = np.where(rng.random((200, 1)) < 0.5, -300.0, 300.0) + 1e-4 * rng.normal(size=(200, 3))
    starts = Mixtures(
        np.full((1, 2), 0.5), np.array([[[-300.0] * 3, [300.0] * 3]]), np.full((1, 2, 3), 1e-8)
    )
    with pytest.warns(DeviceWarning, match="float32"):
        found = fit_mixtures_on([lumps], starts, 1e-10, "torch-cpu", max_iterations=5)
    wanted = fit_mixtures([lumps], starts, 1e-10, max_iterations=5)
    np.testing.assert_allclose(found.log_likelihoods, wanted.log_likelihoods)


def test_a_device_that_is_not_there_is_said_and_the_processor_fits():
    samples = bags([40])
    starts = starts_of(samples)
    with pytest.warns(DeviceWarning, match="processor does the work"):
        found = fit_mixtures_on(samples, starts, FLOOR, "cuda:93")
    wanted = fit_mixtures(samples, starts, FLOOR)
    np.testing.assert_array_equal(found.mixtures.means, wanted.mixtures.means)
    with pytest.warns(DeviceWarning):
        assert mixtures_on(np.zeros((1, 1, 2), np.float32), np.zeros((1, 1)), "cuda:93") is None


@pytest.mark.parametrize("samples", [[np.zeros((0, 3))], [np.full((4, 3), np.nan)], []])
def test_bad_samples_are_refused(samples):
    starts = starts_of(bags([40]))
    with pytest.raises(MixtureError):
        fit_mixtures_on(samples, starts, FLOOR, "torch-cpu")


@pytest.mark.parametrize("double", [True, False])
@pytest.mark.parametrize("unknown", [(), (1,), (0, 2)], ids=str)
def test_gains_equal_the_processors_also_with_unknown_dimensions(double, unknown):
    samples = bags([60] * 9)
    fits = fit_mixtures(samples, starts_of(samples), FLOOR)
    packed = PackedMixtures.pack(fits.mixtures)
    query = bags([101])[0]
    query[:, list(unknown)] = np.nan
    background = np.random.default_rng(1).normal(-6, 1, len(query))
    wanted = smoothed_gains(packed, query, background, 0.9)
    held = mixtures_on(packed.factors, packed.constants, "torch-cpu", double=double)
    found = held.gains(query, background, 0.9)
    np.testing.assert_allclose(found, wanted, atol=1e-10 if double else 1e-4)
    np.testing.assert_array_equal(held.gains(query, background, 0.9), found)
    weights = np.random.default_rng(2).random(len(query))
    wanted = smoothed_gains(packed, query, background, 0.9, weights=weights)
    found = held.gains(query, background, 0.9, weights)
    np.testing.assert_allclose(found, wanted, atol=1e-10 if double else 1e-4)


def test_blocks_of_any_size_give_the_same_gains(monkeypatch):
    samples = bags([60] * 5)
    packed = PackedMixtures.pack(starts_of(samples))
    held = mixtures_on(packed.factors, packed.constants, "torch-cpu", double=True)
    whole = held.gains(samples[0], np.zeros(60), 0.5)
    monkeypatch.setattr(fitting, "_BYTES_AT_ONCE", 1)
    np.testing.assert_allclose(held.gains(samples[0], np.zeros(60), 0.5), whole, rtol=1e-12)


def test_samples_that_do_not_fit_the_mixtures_are_refused():
    packed = PackedMixtures.pack(starts_of(bags([40])))
    held = mixtures_on(packed.factors, packed.constants, "torch-cpu")
    with pytest.raises(MixtureError, match=r"\(N, 3\)"):
        held.gains(np.zeros((4, 2)), np.zeros(4), 0.5)
    with pytest.raises(MixtureError, match="factors"):
        mixtures_on(packed.factors, packed.constants[:, :1], "torch-cpu")
