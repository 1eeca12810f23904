"""Canonical correlation against closed forms, scikit-learn and itself under other names."""

import numpy as np
import pytest
from scipy.linalg import eigh

from experiments.baselines.cca_variants import GeneralisedCCA, KernelCCA
from wordsight.attributes import CCA, TeachingError


@pytest.fixture
def sources():
    random = np.random.default_rng(0)
    shared = random.normal(size=(400, 2))
    x = np.hstack([shared + 0.5 * random.normal(size=(400, 2)), random.normal(size=(400, 3))])
    y = np.hstack([random.normal(size=(400, 2)), shared @ [[1, 2], [0.5, -1]]])
    return x, y + 0.3 * random.normal(size=y.shape)


def closed_form(x, y):
    """Canonical correlations as a generalised eigenvalue problem."""
    x, y = x - x.mean(0), y - y.mean(0)
    cross, left, right = x.T @ y, x.T @ x, y.T @ y
    values = eigh(cross @ np.linalg.solve(right, cross.T), left, eigvals_only=True)
    return np.sqrt(np.clip(values[::-1], 0, 1))


def test_correlations_are_those_of_the_closed_form(sources):
    found = CCA(4, ridge=(0, 0)).fit(*sources)
    np.testing.assert_allclose(found.correlations_, closed_form(*sources)[:4], atol=1e-9)
    np.testing.assert_allclose(found.score(*sources), found.correlations_, atol=1e-9)


@pytest.mark.slow
def test_scikit_learn_finds_the_same_directions(sources):
    sklearn = pytest.importorskip("sklearn.cross_decomposition")
    left, right = CCA(2, ridge=(0, 0)).fit(*sources).transform(*sources)
    theirs = sklearn.CCA(2, tol=1e-12, max_iter=5000).fit(*sources).transform(*sources)
    for ours, other in zip((left, right), theirs, strict=True):
        for d in range(2):
            assert abs(np.corrcoef(ours[:, d], other[:, d])[0, 1]) > 0.9999


def test_one_known_correlation():
    # x and y share half of their variance: the correlation is one half.
    random = np.random.default_rng(1)
    a, b, c = random.normal(size=(3, 200_000))
    found = CCA(1, ridge=(0, 0)).fit((a + b)[:, None], (a + c)[:, None])
    assert found.correlations_[0] == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("how", ["permutation", "held-out"])
def test_the_number_of_directions_is_found(sources, how):
    assert len(CCA(how, ridge=(0.01, 0.01)).fit(*sources).correlations_) == 2


def test_a_ridge_keeps_noise_from_correlating():
    random = np.random.default_rng(0)
    x, y = random.normal(size=(60, 50)), random.normal(size=(60, 40))
    assert CCA(1, ridge=(0, 0)).fit(x, y).correlations_[0] > 0.99
    assert CCA(1, ridge=(10, 10)).fit(x, y).correlations_[0] < 0.4


def test_more_features_than_samples_and_constant_ones():
    random = np.random.default_rng(0)
    x = np.hstack([random.normal(size=(20, 100)), np.ones((20, 3))])
    found = CCA(3).fit(x, random.normal(size=(20, 5)))
    assert np.isfinite(found.x_weights_).all()
    still = CCA(2).fit(np.ones((20, 4)), random.normal(size=(20, 5)))
    assert still.transform_x(np.ones((3, 4))).shape == (3, 0)


@pytest.mark.slow
def test_a_linear_kernel_gives_linear_directions(sources):
    x, y = sources
    kernel = KernelCCA(2, kernel="linear", ridge=1e-4).fit(x, y)
    linear = CCA(2, ridge=(0, 0)).fit(x, y).transform_x(x)
    for d in range(2):
        assert abs(np.corrcoef(kernel.transform_x(x)[:, d], linear[:, d])[0, 1]) > 0.98


def test_a_gaussian_kernel_sees_what_lines_do_not():
    random = np.random.default_rng(0)
    angle = random.uniform(0, 2 * np.pi, 300)
    x = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    y = np.cos(2 * angle)[:, None] + 0.05 * random.normal(size=(300, 1))
    test = slice(200, 300)
    kernel = KernelCCA(1).fit(x[:200], y[:200])
    found = np.corrcoef(kernel.transform_x(x[test])[:, 0], kernel.transform_y(y[test])[:, 0])
    assert abs(found[0, 1]) > 0.9
    assert abs(CCA(1).fit(x[:200], y[:200]).score(x[test], y[test])[0]) < 0.3


def test_two_sources_generalised_are_the_same(sources):
    found = GeneralisedCCA(2, ridge=0).fit(sources)
    np.testing.assert_allclose(found.shares_, (1 + closed_form(*sources)[:2]) / 2, atol=1e-9)


def test_three_sources_share_what_all_share():
    random = np.random.default_rng(0)
    shared = random.normal(size=300)
    sources = [
        np.stack([shared + 0.2 * random.normal(size=300), random.normal(size=300)], axis=1)
        for _ in range(3)
    ]
    found = GeneralisedCCA(1).fit(sources)
    first, missing, third = found.transform([sources[0], None, sources[2]])
    assert missing is None
    assert abs(np.corrcoef(first[:, 0], third[:, 0])[0, 1]) > 0.9


@pytest.mark.parametrize(
    "call",
    [
        lambda: CCA(0),
        lambda: CCA(1, ridge=(-1, 0)),
        lambda: CCA(1).fit(np.ones((3, 2)), np.ones((4, 2))),  # rows that do not match
        lambda: CCA(1).fit(np.ones(3), np.ones(3)),  # no tables
        lambda: CCA(1).fit([[np.nan], [1]], [[1], [2]]),
        lambda: CCA(1).fit([[1.0]], [[1.0]]),  # one sample
        lambda: KernelCCA(0),
        lambda: KernelCCA(1, kernel="round"),
        lambda: GeneralisedCCA(1).fit([np.ones((3, 2))]),
        lambda: GeneralisedCCA(1, ridge=[1, 2]).fit([np.eye(3)] * 3),
    ],
)
def test_nonsense_is_refused_in_plain_words(call):
    with pytest.raises(TeachingError):
        call()
