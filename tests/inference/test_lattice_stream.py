"""Clips in parts: everything as from the whole clip, in memory that grows with the root of T."""

from dataclasses import replace

import numpy as np
import pytest

from tests.inference.lattices import random_lattice
from wordsight.inference import Lattice, best_paths, expected_counts
from wordsight.inference.lattice.stream import (
    slice_lattice,
    streamed_bytes,
    streamed_counts,
    streamed_path,
)

SHAPES = {  # participants, detections, words as participants and states
    "one participant": (1, 5, [((0,), 1), ((0,), 3)]),
    "a verb whose roles are turned": (2, 4, [((1, 0), 2), ((1,), 1)]),
    "two words with states": (2, 3, [((0, 1), 3), ((1,), 2)]),
    "a verb and a preposition": (3, 3, [((0,), 1), ((2,), 1), ((0, 1), 3), ((2, 0), 1)]),
    "no words": (2, 4, []),
}
LENGTHS = [(1, None), (2, None), (3, 1), (17, None), (40, 7), (23, 100)]  # frames, frames in a part


@pytest.mark.parametrize("frames,part", LENGTHS)
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_counts_in_parts_equal_those_of_the_whole(name, frames, part, backend):
    if backend == "reference" and frames > 20:
        pytest.skip("slow, and nothing new")
    lattice = random_lattice(SHAPES[name], frames, frames)
    (wanted,) = expected_counts([lattice], participants=True)
    found = streamed_counts(lattice, participants=True, backend=backend, part=part)
    assert found.log_joint == pytest.approx(wanted.log_joint, abs=1e-10)
    assert found.log_partition == pytest.approx(wanted.log_partition, abs=1e-10)
    np.testing.assert_allclose(found.participants, wanted.participants, atol=1e-10)
    for one, other in zip(found.tables, wanted.tables, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-10)
    for one, other in zip(found.transitions, wanted.transitions, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)


@pytest.mark.parametrize("frames,part", LENGTHS)
@pytest.mark.parametrize("name", SHAPES)
def test_the_best_path_in_parts_is_that_of_the_whole(name, frames, part):
    lattice = random_lattice(SHAPES[name], frames, frames + 1)
    (wanted,) = best_paths([lattice])
    found = streamed_path(lattice, part=part)
    assert found.log_score == pytest.approx(wanted.log_score, abs=1e-9)
    np.testing.assert_array_equal(found.tracks, wanted.tracks)
    np.testing.assert_array_equal(found.states, wanted.states)


def test_an_impossible_clip_counts_nothing():
    lattice = random_lattice(SHAPES["two words with states"], 9, 0)
    unary = lattice.unary.copy()
    unary[..., 4, :] = 0.0
    nothing = Lattice(2, unary, lattice.coherence, lattice.words)
    found = streamed_counts(nothing)
    assert found.log_joint == -np.inf and found.log_partition == -np.inf
    assert all((table == 0).all() for table in (*found.tables, *found.transitions))
    assert streamed_path(nothing).log_score == -np.inf


def test_what_is_too_unlikely_for_scaled_numbers_is_told_by_logarithms():
    plain = random_lattice(SHAPES["a verb whose roles are turned"], 6, 1)
    sharp = (replace(word, emission=word.emission**700) for word in plain.words)
    lattice = replace(plain, words=tuple(sharp))
    (wanted,) = expected_counts([lattice], backend="reference")
    found = streamed_counts(lattice)
    assert found.log_joint == pytest.approx(wanted.log_joint, rel=1e-9)


def test_a_slice_has_the_frames_and_no_scales():
    lattice = random_lattice(SHAPES["two words with states"], 9, 3, apart=True)
    part = slice_lattice(lattice, 2, 5)
    assert part.num_frames == 4 and part.total_log_scale == 0.0
    np.testing.assert_array_equal(part.coherence, lattice.coherence[:, 2:5])


@pytest.mark.slow
def test_a_hundred_thousand_frames_need_little_memory():
    import tracemalloc

    lattice = random_lattice((2, 6, [((0, 1), 3)]), 100_000, 1, apart=False)
    warm = streamed_counts(slice_lattice(lattice, 0, 999))
    assert warm.log_joint > -np.inf
    own = sum(word.emission.nbytes for word in lattice.words)
    tracemalloc.start()
    found = streamed_counts(lattice)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    whole = 100_000 * lattice.num_nodes * 8
    assert found.tables[0][::1000].sum() == pytest.approx(100, abs=1e-6)
    # The results are as large as the given tables; beside them, a small part of all nodes.
    assert peak - own < 0.1 * whole
    assert streamed_bytes(lattice) < 3 * own
