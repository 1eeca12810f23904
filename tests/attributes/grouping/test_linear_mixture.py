"""The mixture of linear maps: EM never falls, order does not matter, planted maps are found."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordsight.attributes import LinearMixture, TeachingError
from wordsight.attributes.grouping.attribute_count import choose_num_components, score_components
from wordsight.attributes.grouping.linear_mixture import exclusive_axis, split_along


def planted(count=300, maps=2, noise=0.1, seed=0):
    random = np.random.default_rng(seed)
    x = random.normal(size=(count, 3))
    which = random.integers(maps, size=count)
    tables = random.normal(size=(maps, 3, 2)) * 2
    shift = random.normal(size=(maps, 2)) * 3
    y = np.einsum("nd,nde->ne", x, tables[which]) + shift[which]
    return x, y + noise * random.normal(size=y.shape), which


@given(st.integers(0, 10**6), st.integers(1, 4), st.sampled_from(["full", "diagonal", "isotropic"]))
@settings(max_examples=15)
def test_the_objective_never_falls(seed, components, noise):
    x, y, _ = planted(60, seed=seed, noise=1.0)
    # The monitor inside raises if it does.
    history = (
        LinearMixture(components, iterations=25, start="random", noise=noise, random_state=seed)
        .fit(x, y)
        .history_
    )
    assert all(b >= a - 1e-7 * abs(a) for a, b in itertools.pairwise(history))


def test_planted_maps_are_found():
    x, y, which = planted()
    mixture = LinearMixture(2, annealed=True).fit(x, y)
    found = mixture.responsibilities_.argmax(axis=1)
    assert max((found == which).mean(), (found != which).mean()) > 0.97


def test_pairs_it_was_not_fitted_to_follow_their_maps_too():
    x, y, which = planted(600)
    mixture = LinearMixture(2, annealed=True).fit(x[:300], y[:300])
    shares = mixture.responsibilities(x[300:], y[300:])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    agree = (shares.argmax(axis=1) == which[300:]).mean()
    assert max(agree, 1 - agree) > 0.97


def test_the_order_of_pairs_does_not_matter():
    x, y, _ = planted(80)
    order = np.random.default_rng(1).permutation(80)
    one = LinearMixture(2, iterations=10).fit(x, y)
    other = LinearMixture(2, iterations=10).fit(x[order], y[order])
    np.testing.assert_allclose(one.history_, other.history_, rtol=1e-6)


def test_noise_is_of_the_kind_asked_for_and_a_start_is_taken():
    x, y, which = planted(200)
    truth = (which[:, None] == np.arange(2)).astype(float)
    for noise in ("diagonal", "isotropic"):
        mixture = LinearMixture(2, noise=noise, iterations=20).fit(x, y, truth)
        found = mixture.responsibilities_.argmax(axis=1)
        assert (found == which).mean() > 0.97
        for covariance in mixture.maps_.covariances:
            assert np.array_equal(covariance, np.diag(np.diag(covariance)))
            assert (np.ptp(np.diag(covariance)) == 0) == (noise == "isotropic")
    with pytest.raises(TeachingError, match="noise must be one of"):
        LinearMixture(2, noise="pink")


def test_the_printed_step_ignores_the_mixing_weights():
    x, y, _ = planted(100)
    mixture = LinearMixture(2, iterations=3, printed_step=True).fit(x, y)
    densities = mixture.maps_.log_densities(x, y)
    expected = np.exp(densities - np.logaddexp.reduce(densities, axis=1)[:, None])
    np.testing.assert_allclose(mixture.responsibilities_, expected, atol=1e-12)


def test_the_axis_maximises_the_sum_over_pairs():
    random = np.random.default_rng(0)
    x, y = random.normal(size=(12, 2)), random.normal(size=(12, 3))

    def value(c):
        return sum(
            (c @ y[i] - c @ y[j]) ** 2 / (np.linalg.norm(x[i] - x[j]) + 1e-3)
            for i in range(12)
            for j in range(i)
        )

    axis = exclusive_axis(x, y)
    assert np.linalg.norm(axis) == pytest.approx(1)
    directions = random.normal(size=(500, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    assert value(axis) >= max(value(c) for c in directions)


def test_splitting_makes_groups_of_equal_size():
    weights = split_along(np.array([5.0, 1, 9, 2, 7, 3]), 3)
    assert weights.sum(axis=0).tolist() == [2, 2, 2]
    assert weights.argmax(axis=1).tolist() == [1, 0, 2, 0, 2, 1]


@pytest.mark.slow
@pytest.mark.parametrize("maps", [1, 2, 3])
def test_the_number_of_maps_is_found(maps):
    x, y, _ = planted(400, maps, seed=3)
    mixture = LinearMixture(1, annealed=True, iterations=40)
    assert choose_num_components(mixture, x, y, most=4) == maps
    scores = score_components(mixture, x, y, most=4)
    assert min(scores, key=lambda one: one.description_length).num_attributes == maps


def test_nonsense_is_refused():
    with pytest.raises(TeachingError):
        LinearMixture(0)
    with pytest.raises(TeachingError):
        LinearMixture(1, start="nowhere")
    with pytest.raises(TeachingError, match="3 components"):
        LinearMixture(3).fit(np.ones((2, 1)), np.ones((2, 1)))


def test_criteria_follow_from_likelihood_and_parameters():
    from wordsight.attributes.grouping.attribute_count import CountScore

    score = CountScore.with_criteria(
        2, -1.0, 0.1, None, likelihood=-50.0, num_parameters=7, num_lessons=40
    )
    assert score.aic == 2 * 7 + 100 and score.bic == pytest.approx(7 * np.log(40) + 100)
    assert score.description_length == pytest.approx(score.bic / 2)
    assert CountScore.from_json(score.to_json()) == score
    old = {k: v for k, v in score.to_json().items() if k not in ("aic", "bic")}
    assert np.isnan(CountScore.from_json(old).aic)
