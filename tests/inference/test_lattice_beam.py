"""The beam: never loses more than it was allowed, tells how much at most, and is exact at 0."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.inference.lattices import like_a_film, random_lattice
from wordsight.inference import LatticeError, expected_counts, log_scores
from wordsight.inference.lattice.beam import beam_counts

SHAPES = {  # participants, detections, words as participants and states
    "one participant": (1, 5, [((0,), 1), ((0,), 3)]),
    "a verb whose roles are turned": (2, 4, [((1, 0), 2), ((1,), 1)]),
    "two words with states": (2, 4, [((0, 1), 3), ((1,), 2)]),
    "a verb and a preposition": (3, 3, [((0,), 1), ((2,), 1), ((0, 1), 3), ((2, 0), 1)]),
    "no words": (2, 4, []),
}


@settings(max_examples=200)
@given(
    name=st.sampled_from(sorted(SHAPES)),
    frames=st.integers(1, 6),
    loss=st.sampled_from([0.5, 0.1, 1e-3]),
    guide=st.integers(1, 5),
    sharpness=st.sampled_from([0.3, 1.0, 4.0]),
    seed=st.integers(0, 10_000),
)
def test_no_more_is_lost_than_allowed_and_the_bound_holds(
    name, frames, loss, guide, sharpness, seed
):
    lattice = random_lattice(SHAPES[name], frames, seed, sharpness=sharpness)
    found = beam_counts(lattice, loss=loss, guide=guide)
    (exact,) = log_scores([lattice])
    if exact.log_joint == -np.inf:
        assert found.log_joint == -np.inf
        return
    assert found.log_joint <= exact.log_joint + 1e-9
    assert exact.log_joint <= found.log_upper + 1e-9
    assert found.lost_mass <= loss + 1e-9
    assert (found.nodes_kept <= lattice.num_nodes).all()


@pytest.mark.parametrize("frames", [1, 2, 7])
@pytest.mark.parametrize("name", SHAPES)
def test_without_loss_counts_are_exact(name, frames):
    lattice = random_lattice(SHAPES[name], frames, frames)
    (wanted,) = expected_counts([lattice])
    found = beam_counts(lattice, loss=0.0)
    assert found.lost_mass == pytest.approx(0.0, abs=1e-12)
    assert found.log_joint == pytest.approx(wanted.log_joint, abs=1e-10)
    assert found.log_partition == pytest.approx(wanted.log_partition, abs=1e-10)
    for one, other in zip(found.tables, wanted.tables, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-10)
    for one, other in zip(found.transitions, wanted.transitions, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


def test_films_need_few_of_the_nodes():
    for seed in range(4):
        lattice = like_a_film(seed, frames=20, things=4, clutter=6)
        (wanted,) = expected_counts([lattice])
        found = beam_counts(lattice, loss=1e-3)
        lost = 1 - np.exp(found.log_joint - wanted.log_joint)
        assert 0 < lost <= found.lost_mass <= 1e-3
        # Documented: bounds are some ten times what is lost, as each is of the worst future.
        assert found.lost_mass < 30 * lost
        assert found.nodes_kept.mean() < 0.5 * lattice.num_nodes
        for one, other in zip(found.tables, wanted.tables, strict=True):
            gap = np.abs(one - other).sum(axis=tuple(range(1, one.ndim)))
            assert (gap <= 2 * found.lost_mass).all()


@pytest.mark.parametrize("loss", [-0.1, 1.0])
def test_a_loss_that_is_no_share_is_refused(loss):
    with pytest.raises(LatticeError, match="share"):
        beam_counts(random_lattice(SHAPES["no words"], 3, 0), loss=loss)
