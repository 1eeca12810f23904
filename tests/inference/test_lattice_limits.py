"""Within limits: exact where it can be, bounded where it cannot, and said."""

import warnings

import numpy as np
import pytest

from tests.inference.lattices import like_a_film, random_lattice
from wordsight.inference import (
    LatticeError,
    LatticeTooLargeError,
    best_paths,
    expected_counts,
    lattice_bytes,
    log_scores,
)
from wordsight.inference.lattice.limits import (
    Limits,
    PrunedWarning,
    collect_losses,
    counts_within_limits,
    paths_within_limits,
    scores_within_limits,
    using_limits,
)
from wordsight.inference.lattice.stream import streamed_bytes

VERB = (2, 5, [((0,), 1), ((1,), 1), ((0, 1), 3)])


def test_what_fits_is_computed_whole():
    lattices = [random_lattice(VERB, frames, frames) for frames in (3, 5)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = scores_within_limits(lattices)
    assert [one.log_joint for one in found] == [one.log_joint for one in log_scores(lattices)]
    assert found[0].lost_mass == 0.0 and found[0].log_upper is None


@pytest.mark.slow
def test_a_clip_too_long_to_be_kept_is_computed_in_parts_exactly():
    lattice = random_lattice(VERB, 400, 1)
    few, whole = streamed_bytes(lattice), lattice_bytes(lattice)
    assert few < whole
    with warnings.catch_warnings(), using_limits(Limits(max_bytes=(few + whole) // 2)):
        warnings.simplefilter("error")
        (counts,), (path,) = counts_within_limits([lattice]), paths_within_limits([lattice])
    (wanted,), (best,) = expected_counts([lattice]), best_paths([lattice])
    assert counts.log_joint == pytest.approx(wanted.log_joint, abs=1e-10)
    np.testing.assert_allclose(counts.tables[2], wanted.tables[2], atol=1e-10)
    np.testing.assert_array_equal(path.tracks, best.tracks)


def test_a_clip_of_too_many_detections_is_pruned_and_the_bound_is_said():
    lattice = like_a_film(1, frames=15, things=4, clutter=10, people=3)
    short, small = like_a_film(2, frames=3), streamed_bytes(lattice) // 3
    assert lattice_bytes(short) < small
    with using_limits(Limits(max_bytes=small)):
        with pytest.warns(PrunedWarning, match="at most .* of its weight is lost"):
            first, second = scores_within_limits([lattice, short])
        with collect_losses() as losses, warnings.catch_warnings():
            warnings.simplefilter("error")
            (counts,) = counts_within_limits([lattice], participants=True)
            (path,) = paths_within_limits([lattice])
    exact, other = log_scores([lattice, short])
    assert second == other
    assert first.log_joint <= exact.log_joint <= first.log_upper
    assert first.log_partition == pytest.approx(exact.log_partition, abs=1e-10)
    assert 0 < first.lost_mass < 0.5
    assert losses == [counts.lost_mass, path.lost_mass]
    (wanted,), (best,) = expected_counts([lattice], participants=True), best_paths([lattice])
    gap = np.abs(counts.participants - wanted.participants).sum(axis=2)
    assert gap.max() <= 2 * counts.lost_mass
    assert counts.tables[-1].shape == wanted.tables[-1].shape
    assert path.log_score <= best.log_score + 1e-9 <= path.log_upper + 2e-9


def test_detections_are_limited_where_it_is_asked_for():
    lattice = like_a_film(3, frames=10)
    with using_limits(Limits(most_detections=3)), collect_losses() as losses:
        (found,) = scores_within_limits([lattice])
    (exact,) = log_scores([lattice])
    assert found.log_joint < exact.log_joint < found.log_upper and len(losses) == 1
    with using_limits(Limits(most_detections=99)), collect_losses() as losses:
        assert scores_within_limits([lattice]) == [exact] and not losses


@pytest.mark.parametrize(
    ("limits", "words"),
    [  # no memory, no detection
        ({"max_bytes": 0}, "1 byte or more"),
        ({"most_detections": 0}, "1 detection or more"),
    ],
)
def test_limits_that_cannot_be_are_refused(limits, words):
    with pytest.raises(LatticeError, match=words):
        Limits(**limits)


def test_what_cannot_fit_at_all_is_refused():
    lattice = random_lattice(VERB, 5, 0)
    with (
        using_limits(Limits(max_bytes=100)),
        pytest.raises(LatticeTooLargeError, match="more than the"),
    ):
        scores_within_limits([lattice])
    with pytest.raises(LatticeTooLargeError, match=r"fewer detections .* \(--prune\)"):
        log_scores([lattice], max_bytes=100)
