"""One model per shot: the same in any company, likelier with restarts, smaller by BIC."""

import numpy as np
import pytest

from wordsight.errors import RetrievalError
from wordsight.retrieval.visual import FeatureScale, ShotMixtures


def bags(count=5, samples=300, dimensions=3):
    random = np.random.default_rng(0)
    return [
        random.normal(random.normal(0, 5, (4, dimensions))[random.integers(4, size=samples)], 1.0)
        for _ in range(count)
    ]


SCALE = FeatureScale(np.zeros(3), np.full(3, 5.0))


def test_a_shot_gets_the_same_model_in_any_company():
    all_together = ShotMixtures(restarts=2).fit(bags(), scale=SCALE)
    alone = ShotMixtures(restarts=2).fit([bags()[3]], scale=SCALE)
    np.testing.assert_array_equal(alone.mixtures_.means[0], all_together.mixtures_.means[3])


def test_the_seed_decides():
    one, same, other = (
        ShotMixtures(random_state=seed).fit(bags(2), scale=SCALE).mixtures_.means
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_more_starts_are_never_less_likely():
    few = ShotMixtures(restarts=1, floor=1e-3).fit(bags(), scale=SCALE)
    many = ShotMixtures(restarts=5, floor=1e-3).fit(bags(), scale=SCALE)
    assert np.all(many.log_likelihoods_ >= few.log_likelihoods_)
    assert np.any(many.log_likelihoods_ > few.log_likelihoods_)


@pytest.mark.parametrize("start", ["seeds", "random"])
def test_likelihoods_only_rise(start):
    model = ShotMixtures(start=start, floor=1e-3, tolerance=1e-9).fit(bags(), scale=SCALE)
    for history in model.histories_:
        assert np.all(np.diff(history) > -1e-9)


def test_likelihoods_are_those_of_the_mixtures():
    random = np.random.default_rng(0)
    clusters = [
        np.repeat(np.arange(k) * 30.0, 200)[:, None] + random.normal(0, 1, (200 * k, 3))
        for k in (1, 2, 4)
    ]
    model = ShotMixtures(4, floor=1e-3, restarts=3).fit(clusters, scale=SCALE)
    for d, samples in enumerate(clusters):
        found = model.mixtures_[d].log_densities(SCALE.standardise(samples)).mean()
        assert found == pytest.approx(model.log_likelihoods_[d])


def test_no_variance_is_under_the_floor():
    model = ShotMixtures(floor=0.3).fit([*bags(2), np.zeros((50, 3))], scale=SCALE)
    assert model.mixtures_.variances.min() == pytest.approx(0.3)


def test_the_scale_is_that_of_the_collection():
    model = ShotMixtures(2).fit(bags(), resolution=np.array([1e-3, 1e-3, 1e6]))
    together = np.concatenate(bags())
    np.testing.assert_allclose(model.scale_.center, together.mean(axis=0))
    np.testing.assert_allclose(model.scale_.spread[:2], together.std(axis=0)[:2])
    assert model.scale_.spread[2] == 1e6  # no finer than the features can tell
    restored = model.scale_.restore(model.scale_.standardise(together))
    np.testing.assert_allclose(restored, together, atol=1e-9)


@pytest.mark.parametrize(
    "options", [{"num_components": 0}, {"restarts": 0}, {"floor": 0.0}, {"floor": -1.0}]
)
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(RetrievalError):
        ShotMixtures(**options)


def test_nothing_cannot_be_fitted():
    with pytest.raises(RetrievalError, match="nothing to fit"):
        ShotMixtures().fit([])
    with pytest.raises(RetrievalError, match="scale cannot be measured"):
        FeatureScale.measure([], np.ones(3))
