"""Joint choices: all of them where they fit, the best with a bound where they do not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wordsight.inference import (
    LatticeTooLargeError,
    Limits,
    PrunedWarning,
    collect_losses,
    using_limits,
)
from wordsight.inference.lattice import choices
from wordsight.inference.lattice.choices import weigh_choices


def problem(seed, things, people, sharpness=2.0):
    """Log weights of things, of each participant's noun, and of neighbours in a chain."""
    rng = np.random.default_rng(seed)
    factors = [((p,), sharpness * rng.normal(size=things)) for p in range(people)]
    for p in range(1, people):
        table = sharpness * rng.normal(size=(things, things))
        table[np.eye(things, dtype=bool)] = -np.inf
        factors.append(((p, p - 1), table))
    return np.log(rng.dirichlet(np.ones(things))), factors


def log_sum(logs):
    return float(np.logaddexp.reduce(logs, axis=None))


@settings(max_examples=200)
@given(
    seed=st.integers(0, 10_000),
    things=st.integers(2, 6),
    people=st.integers(1, 3),
    most=st.integers(1, 6),
    heaviest=st.booleans(),
)
def test_what_is_lost_is_within_the_bound(seed, things, people, most, heaviest):
    prior, factors = problem(seed, things, people)
    whole = weigh_choices(prior, factors, people)
    assert whole.places is None and whole.logs.shape == (things,) * people
    with using_limits(Limits(most_detections=most)), collect_losses() as losses:
        few = weigh_choices(prior, factors, people, heaviest=heaviest)
    value = np.max if heaviest else log_sum
    lower, exact = value(few.logs), value(whole.logs)
    if most >= things:
        assert not losses and np.array_equal(few.logs, whole.logs)
        return
    (lost,) = losses
    assert lower <= exact + 1e-9
    if lower > -np.inf:
        assert exact <= lower - np.log1p(-min(lost, 1 - 1e-16)) + 1e-9
    else:
        assert lost == pytest.approx(1.0) or exact == -np.inf
    # The weights that are kept are those of the same things.
    flat = np.arange(few.logs.size)
    np.testing.assert_allclose(few.logs.ravel(), whole.logs[few.things(flat)])


def test_tables_are_put_back_in_their_places():
    prior, factors = problem(3, 5, 2)
    with using_limits(Limits(most_detections=2)), collect_losses():
        few = weigh_choices(prior, factors, 2)
    table = np.exp(few.logs)
    whole = few.whole(table, (0, 1))
    assert whole.shape == (5, 5) and whole.sum() == pytest.approx(table.sum())
    np.testing.assert_array_equal(whole[np.ix_(*few.places)], table)


def test_too_many_choices_are_pruned_and_said(monkeypatch):
    monkeypatch.setattr(choices, "_MOST_CHOICES", 100)
    monkeypatch.setattr(choices, "_MOST_PRUNED", 216)
    prior, factors = problem(4, 9, 3)
    with pytest.warns(PrunedWarning, match="over 9 tracks .* best 5"):
        few = weigh_choices(prior, factors, 3)
    assert few.logs.shape == (5, 5, 5)


def test_too_many_participants_are_refused():
    prior, factors = problem(5, 40, 23)
    with pytest.raises(LatticeTooLargeError, match="cut the sentence"):
        weigh_choices(prior, factors, 23)
