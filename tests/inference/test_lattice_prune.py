"""Pruning: the truth lies between the two sums, always; and nothing is lost where all is kept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.inference.lattices import like_a_film, random_lattice
from wordsight.inference import LatticeError, best_paths, expected_counts, log_scores
from wordsight.inference.lattice.prune import prune

SHAPES = {  # participants, detections, words as participants and states
    "one participant": (1, 5, [((0,), 1), ((0,), 3)]),
    "a verb": (2, 4, [((0,), 1), ((1,), 1), ((0, 1), 3)]),
    "a verb whose roles are turned": (2, 4, [((1, 0), 2), ((1,), 1)]),
    "two words with states": (2, 4, [((0, 1), 3), ((1,), 2)]),
    "a verb and a preposition": (3, 3, [((0,), 1), ((2,), 1), ((0, 1), 3), ((2, 0), 1)]),
    "a word of three roles": (3, 3, [((2, 0, 1), 2)]),
    "no words": (2, 4, []),
}


@pytest.mark.slow
@settings(max_examples=300)
@given(
    name=st.sampled_from(sorted(SHAPES)),
    frames=st.integers(1, 6),
    most=st.integers(1, 5),
    groups=st.integers(1, 3),
    sharpness=st.sampled_from([0.3, 1.0, 4.0]),
    seed=st.integers(0, 10_000),
)
def test_the_whole_sum_lies_between_the_bounds(name, frames, most, groups, sharpness, seed):
    lattice = random_lattice(SHAPES[name], frames, seed, sharpness=sharpness)
    pruned = prune(lattice, most, groups=groups)
    exact, lower, upper = (
        score.log_joint for score in log_scores([lattice, pruned.kept, pruned.upper])
    )
    assert lower <= exact + 1e-9
    assert exact <= upper + 1e-9
    if most >= lattice.num_detections:
        assert lower == pytest.approx(exact, abs=1e-10)
        assert upper == pytest.approx(exact, abs=1e-10)


@settings(max_examples=100)
@given(name=st.sampled_from(sorted(SHAPES)), frames=st.integers(1, 5), seed=st.integers(0, 10_000))
def test_the_best_path_lies_between_the_bounds_too(name, frames, seed):
    lattice = random_lattice(SHAPES[name], frames, seed, sharpness=3.0)
    pruned = prune(lattice, 2)
    exact, lower, upper = (
        path.log_score for path in best_paths([lattice, pruned.kept, pruned.upper])
    )
    assert lower <= exact + 1e-9 and exact <= upper + 1e-9


def test_more_groups_make_a_tighter_bound():
    lattice = random_lattice(SHAPES["a verb"], 6, 3, sharpness=1.0)
    uppers = [log_scores([prune(lattice, 1, groups=g).upper])[0].log_joint for g in (1, 2, 3)]
    exact = log_scores([lattice])[0].log_joint
    assert uppers[0] > uppers[1] > uppers[2] > exact - 1e-12


@pytest.mark.parametrize("name", SHAPES)
def test_counts_are_put_back_in_their_places(name):
    lattice = random_lattice(SHAPES[name], 5, 1, sharpness=6.0)
    pruned = prune(lattice, 3)
    (counts,) = expected_counts([pruned.kept], participants=True)
    (wanted,) = expected_counts([lattice], participants=True)
    lost = 1 - np.exp(counts.log_joint - wanted.log_joint)
    for number, table in enumerate(counts.tables):
        whole = pruned.whole_table(table, number)
        assert whole.shape == wanted.tables[number].shape
        # A distribution with a part left out is off by that part at most.
        gap = np.abs(whole - wanted.tables[number]).sum(axis=tuple(range(1, whole.ndim)))
        assert (gap <= 2 * lost + 1e-9).all()
    tracks = pruned.whole_participants(counts.participants)
    assert (np.abs(tracks - wanted.participants).sum(axis=2) <= 2 * lost + 1e-9).all()
    (path,) = best_paths([pruned.kept])
    found = pruned.whole_tracks(path.tracks)
    (best,) = best_paths([lattice])
    if path.log_score == pytest.approx(best.log_score, abs=1e-9):
        np.testing.assert_array_equal(found, best.tracks)


def test_films_lose_little_and_the_bound_says_so():
    # A thing that is followed among many that are not: what is usual, and what the bound is for.
    bounds, losses = [], []
    for seed in range(12):
        lattice = like_a_film(seed, frames=20, things=4, clutter=6)
        pruned = prune(lattice, 5)
        exact, lower, upper = (
            score.log_joint for score in log_scores([lattice, pruned.kept, pruned.upper])
        )
        losses.append(1 - np.exp(lower - exact))
        bounds.append(1 - np.exp(lower - upper))
    assert 0 < np.median(losses) < 0.05 and np.median(bounds) < 0.15
    # Documented: about three times what is lost, in the middle of such films.
    assert np.median(np.array(bounds) / losses) < 5


def test_impossible_lattices_stay_impossible():
    lattice = random_lattice(SHAPES["a verb"], 4, 0)
    nothing = type(lattice)(2, np.zeros_like(lattice.unary), lattice.coherence, lattice.words)
    pruned = prune(nothing, 2)
    scores = log_scores([pruned.kept, pruned.upper])
    assert [score.log_joint for score in scores] == [-np.inf, -np.inf]


@pytest.mark.parametrize("options", [{"most": 0}, {"most": 2, "groups": 0}])
def test_nothing_kept_is_refused(options):
    with pytest.raises(LatticeError, match="1 detection or more"):
        prune(random_lattice(SHAPES["a verb"], 3, 0), **options)
