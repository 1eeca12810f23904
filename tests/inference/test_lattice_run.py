"""Inference on lattices: brute force, invariants, both implementations, threads and limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.inference.brute_force import (
    enumerate_all,
    random_lattice,
    total_of_tracks,
    weight_of,
)
from wordsight.inference import (
    Lattice,
    LatticeTooLargeError,
    WordChain,
    best_paths,
    expected_counts,
    lattice_bytes,
    log_scores,
)
from wordsight.inference.lattice import run

BACKENDS = ["compiled", "reference"]
LOG = 1e-10
COUNT = 1e-9

SHAPES = [
    # participants, detections, frames, words
    (1, 2, 4, [((0,), 3)]),  # an ordinary HMM over tracks
    (1, 3, 1, [((0,), 2)]),  # one frame
    (2, 2, 3, []),  # no words
    (2, 2, 3, [((0, 1), 2), ((0,), 1)]),  # verb and noun
    (2, 2, 3, [((1, 0), 3), ((1,), 1)]),  # roles in descending order
    (2, 3, 2, [((0,), 2), ((1,), 2)]),  # two words that share nobody
    (3, 2, 2, [((0, 1), 2), ((2, 0), 1), ((1,), 1)]),  # verb, preposition, noun
    (3, 2, 2, [((2, 0, 1), 2)]),  # three roles, turned
    (3, 2, 2, [((0,), 1)]),  # participants nobody speaks of
    (2, 2, 2, [((0, 1), 2), ((0, 1), 3), ((0,), 2)]),  # three words with states
    (2, 2, 3, [((0,), 1), ((0,), 1), ((0, 1), 1), ((1, 0), 1)]),  # one state each, twice
]


def _cases():
    for number, shape in enumerate(SHAPES):
        for apart in (False, True):
            for holes in (0.0, 0.3):
                random = np.random.default_rng([number, apart, int(10 * holes)])
                yield random_lattice(
                    random, *shape, apart=apart, holes=holes, final=number % 2 == 1
                )


CASES = list(_cases())


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("lattice", CASES)
def test_equals_brute_force(lattice, backend):
    total, best, tables, steps, tracks = enumerate_all(lattice)
    (counts,) = expected_counts([lattice], participants=True, backend=backend)
    (score,) = log_scores([lattice], backend=backend)
    (path,) = best_paths([lattice], backend=backend)
    with np.errstate(divide="ignore"):
        expected = np.log([total, total_of_tracks(lattice), best])
    np.testing.assert_allclose(
        [counts.log_joint, counts.log_partition, path.log_score], expected, rtol=LOG, atol=LOG
    )
    np.testing.assert_allclose([score.log_joint, score.log_partition], expected[:2], rtol=LOG)
    for found, wanted in zip(counts.tables, tables, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=COUNT)
    for found, wanted in zip(counts.transitions, steps, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=COUNT)
    np.testing.assert_allclose(counts.participants, tracks, rtol=0, atol=COUNT)
    if best > 0:
        assert np.log(weight_of(lattice, path.tracks, path.states)) == pytest.approx(expected[2])
    else:
        assert (path.tracks == -1).all() and (path.states == -1).all()


shapes = st.tuples(
    st.integers(1, 4),
    st.integers(1, 4),
    st.integers(1, 6),
    st.integers(0, 3),
    st.integers(0, 2**31),
)


@settings(max_examples=60, deadline=None)
@given(shapes, st.booleans(), st.booleans(), st.sampled_from([0.0, 0.2, 0.6]))
def test_compiled_equals_reference(shape, apart, final, holes):
    participants, detections, frames, num_words, seed = shape
    random = np.random.default_rng(seed)
    words = [
        (
            tuple(random.permutation(participants)[: random.integers(1, participants + 1)]),
            int(random.integers(1, 5)),
        )
        for _ in range(num_words)
    ]
    lattices = [
        random_lattice(
            random, participants, detections, frames, words, apart=apart, holes=holes, final=final
        )
        for _ in range(2)
    ]
    _assert_same(lattices)


def _assert_same(lattices):
    fast = expected_counts(lattices, participants=True)
    slow = expected_counts(lattices, backend="reference")
    for a, b in zip(fast, slow, strict=True):
        np.testing.assert_allclose(
            [a.log_joint, a.log_partition], [b.log_joint, b.log_partition], rtol=LOG, atol=LOG
        )
        for found, wanted in zip(
            (*a.tables, *a.transitions, a.participants),
            (*b.tables, *b.transitions, b.participants),
            strict=True,
        ):
            np.testing.assert_allclose(found, wanted, rtol=0, atol=COUNT)
    pairs = zip(best_paths(lattices), best_paths(lattices, backend="reference"), strict=True)
    for a, b in pairs:
        np.testing.assert_allclose(a.log_score, b.log_score, rtol=LOG, atol=LOG)


LARGE = [
    # more products than one call to BLAS may take, so that blocks are cut
    (2, 60, 3, [((0, 1), 3)]),
    (1, 300, 3, [((0,), 3)]),
    (3, 24, 2, [((0, 2), 2), ((1,), 2)]),
    # the lattice of the paper's example sentence
    (4, 6, 5, [((0, 1), 1), ((0, 2), 3), ((0, 3), 3), ((0,), 1), ((1,), 1), ((2,), 1), ((3,), 1)]),
    # many states
    (2, 3, 6, [((0, 1), 20), ((0,), 3)]),
]


@pytest.mark.slow
@pytest.mark.parametrize("shape", LARGE)
def test_compiled_equals_reference_on_larger_lattices(shape):
    random = np.random.default_rng(0)
    _assert_same([random_lattice(random, *shape, apart=True)])


SENTENCE = (3, 4, 12, [((0, 1), 3), ((2, 0), 1), ((0,), 3), ((0,), 1), ((1,), 1), ((2,), 1)])


def test_threads_batches_and_places_in_memory_change_no_bit():
    random = np.random.default_rng(1)
    lattices = [random_lattice(random, *SENTENCE) for _ in range(7)]
    lattices += [random_lattice(random, 2, 5, n, [((0, 1), 3)]) for n in range(1, 9)]
    one = expected_counts(lattices)
    for other in (
        expected_counts(lattices, threads=2),
        [expected_counts([lattice])[0] for lattice in lattices],
        expected_counts(lattices[::-1], threads=3)[::-1],
        *(_displaced(lattices, random) for _ in range(10)),
    ):
        for a, b in zip(one, other, strict=True):
            assert a.log_joint == b.log_joint and a.log_partition == b.log_partition
            for left, right in zip(
                (*a.tables, *a.transitions), (*b.tables, *b.transitions), strict=True
            ):
                assert np.array_equal(left, right)
    assert log_scores(lattices, threads=2) == log_scores(lattices)
    for a, b in zip(best_paths(lattices, threads=2), best_paths(lattices), strict=True):
        assert a.log_score == b.log_score and np.array_equal(a.tracks, b.tracks)


def _displaced(lattices, random):
    occupied = [np.empty(size) for size in random.integers(1, 3000, 50)]
    counts = expected_counts(lattices)
    return counts if occupied else []


@pytest.mark.parametrize("seed", range(5))
def test_best_path_never_beats_the_sum(seed):
    lattice = random_lattice(np.random.default_rng(seed), *SENTENCE, holes=0.1)
    assert best_paths([lattice])[0].log_score <= log_scores([lattice])[0].log_joint + LOG


def _permuted(lattice, order):
    words = tuple(
        WordChain(
            w.participants,
            w.initial,
            w.transition,
            w.emission[np.ix_(*map(range, w.emission.shape[:2]), *[order] * w.num_participants)],
        )
        for w in lattice.words
    )
    coherence = lattice.coherence[..., order, :][..., order]
    return Lattice(lattice.num_participants, lattice.unary[..., order], coherence, words)


def test_order_of_detections_does_not_matter():
    random = np.random.default_rng(3)
    lattice = random_lattice(random, *SENTENCE)
    order = random.permutation(4)
    (a,), (b,) = expected_counts([lattice]), expected_counts([_permuted(lattice, order)])
    assert a.log_likelihood == pytest.approx(b.log_likelihood, abs=LOG)
    for left, right in zip(a.transitions, b.transitions, strict=True):
        np.testing.assert_allclose(left, right, atol=COUNT)
    for left, right in zip(a.tables, b.tables, strict=True):
        axes = [order] * (left.ndim - 2)
        np.testing.assert_allclose(
            left[np.ix_(*map(range, left.shape[:2]), *axes)], right, atol=COUNT
        )


def test_one_participant_more_changes_nothing_but_the_joint_score():
    lattice = random_lattice(np.random.default_rng(4), *SENTENCE)
    wider = Lattice(4, lattice.unary, lattice.coherence, lattice.words)
    (a,), (b,) = expected_counts([lattice]), expected_counts([wider])
    assert a.log_likelihood == pytest.approx(b.log_likelihood, abs=LOG)
    assert a.log_partition / 3 == pytest.approx(b.log_partition / 4, abs=LOG)
    assert b.log_joint != pytest.approx(a.log_joint)
    for left, right in zip((*a.tables, *a.transitions), (*b.tables, *b.transitions), strict=True):
        np.testing.assert_allclose(left, right, atol=COUNT)


def test_masked_detections_equal_absent_ones():
    random = np.random.default_rng(5)
    lattice = random_lattice(random, *SENTENCE)
    unary = lattice.unary.copy()
    unary[:, 3] = 0.0
    masked = Lattice(3, unary, lattice.coherence, lattice.words)
    kept = _permuted(lattice, np.arange(3))
    (a,), (b,) = expected_counts([masked]), expected_counts([kept])
    assert a.log_joint == pytest.approx(b.log_joint, abs=LOG)
    assert all((table[:, :, ..., 3] == 0).all() for table in a.tables)


def test_identities_of_expected_counts():
    lattice = random_lattice(np.random.default_rng(6), *SENTENCE)
    (counts,) = expected_counts([lattice], participants=True)
    for number, word in enumerate(lattice.words):
        states = counts.states(number)
        np.testing.assert_allclose(states.sum(axis=1), 1.0, atol=COUNT)
        np.testing.assert_allclose(counts.initial(number), states[0])
        # steps that leave a state were in it before the last frame, steps that enter after
        np.testing.assert_allclose(
            counts.transitions[number].sum(axis=1), states[:-1].sum(axis=0), atol=COUNT
        )
        np.testing.assert_allclose(
            counts.transitions[number].sum(axis=0), states[1:].sum(axis=0), atol=COUNT
        )
        for axis, p in enumerate(word.participants):
            others = tuple(a for a in range(1, counts.tables[number].ndim) if a != axis + 2)
            np.testing.assert_allclose(
                counts.tables[number].sum(axis=others), counts.participants[p], atol=COUNT
            )


def test_one_detection_and_one_word_are_an_ordinary_chain():
    random = np.random.default_rng(7)
    lattice = random_lattice(random, 1, 1, 30, [((0,), 4)])
    word = lattice.words[0]
    seen = word.emission[:, :, 0]
    forward, backward = [word.initial * seen[0]], [np.ones(4)]
    for row in seen[1:]:
        forward.append(forward[-1] @ word.transition * row)
    for row in seen[:0:-1]:
        backward.insert(0, word.transition @ (row * backward[0]))
    total = forward[-1].sum()
    (counts,) = expected_counts([lattice])
    assert counts.log_likelihood == pytest.approx(np.log(total), abs=LOG)
    states = np.array(forward) * np.array(backward) / total
    np.testing.assert_allclose(counts.states(0), states, atol=COUNT)
    steps = sum(
        np.outer(forward[t], seen[t + 1] * backward[t + 1]) for t in range(lattice.num_frames - 1)
    )
    np.testing.assert_allclose(counts.transitions[0], steps * word.transition / total, atol=COUNT)


def test_scales_taken_out_come_back():
    lattice = random_lattice(np.random.default_rng(8), *SENTENCE)
    first = lattice.words[0]
    halved = WordChain(
        first.participants,
        first.initial,
        first.transition,
        first.emission / 2,
        None,
        12 * np.log(2),
    )
    scaled = Lattice(
        3, lattice.unary / 4, lattice.coherence, (halved, *lattice.words[1:]), 36 * np.log(4)
    )
    for backend in BACKENDS:
        (a,), (b,) = (log_scores([x], backend=backend) for x in (lattice, scaled))
        np.testing.assert_allclose([a.log_joint, a.log_partition], [b.log_joint, b.log_partition])
        (p,), (q,) = (best_paths([x], backend=backend) for x in (lattice, scaled))
        assert p.log_score == pytest.approx(q.log_score)


def test_impossible_clips_score_minus_infinity_and_count_nothing():
    lattice = random_lattice(np.random.default_rng(9), 2, 3, 4, [((0, 1), 2)])
    unary = lattice.unary.copy()
    unary[2] = 0.0  # a frame without detections
    empty = Lattice(2, unary, lattice.coherence, lattice.words)
    for backend in BACKENDS:
        (counts,) = expected_counts([empty], backend=backend)
        assert counts.log_joint == counts.log_partition == counts.log_likelihood == -np.inf
        assert not counts.tables[0].any() and not counts.transitions[0].any()
        assert best_paths([empty], backend=backend)[0].log_score == -np.inf


def test_weights_beyond_the_range_of_numbers_are_still_exact():
    # Going on in the first state costs 1e-200 a frame, and only the first state may end.
    tiny = np.array([[1e-200, 1.0], [0.0, 1.0]])
    word = WordChain(
        (0,), np.array([1.0, 1.0]), tiny, np.ones((6, 2, 2)), final=np.array([1.0, 0.0])
    )
    lattice = Lattice(1, np.ones((6, 2)), np.full((5, 2, 2), 0.5), (word,))
    (score,), (counts,) = log_scores([lattice]), expected_counts([lattice])
    assert score.log_likelihood == pytest.approx(5 * np.log(1e-200))
    assert counts.log_likelihood == pytest.approx(5 * np.log(1e-200))
    np.testing.assert_allclose(counts.states(0), [[1.0, 0.0]] * 6)
    (path,) = best_paths([lattice])
    assert path.states[:, 0].tolist() == [0] * 6


def test_lattices_that_would_not_fit_are_refused_before_any_work():
    frames, count = 100, 12
    words = tuple(
        WordChain((p,), np.ones(3), np.ones((3, 3)), np.ones((frames, 3, count))) for p in range(7)
    )
    lattice = Lattice(7, np.ones((frames, count)), np.ones((frames - 1, count, count)), words)
    assert lattice.num_nodes == 12**7 * 3**7
    assert lattice_bytes(lattice) > 2**40
    for function in (log_scores, expected_counts, best_paths):
        with pytest.raises(LatticeTooLargeError, match="fewer detections per frame"):
            function([lattice])
    small = random_lattice(np.random.default_rng(0), *SENTENCE)
    with pytest.raises(LatticeTooLargeError, match="3 participants over 4 detections"):
        expected_counts([small], max_bytes=1000)


def test_nothing_to_do():
    assert log_scores([]) == [] and expected_counts([]) == [] and best_paths([]) == []


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_an_error_in_any_thread_reaches_the_caller_and_ends_the_others(threads):
    random = np.random.default_rng(0)
    lattices = [random_lattice(random, 1, 2, 3, [((0,), 2)]) for _ in range(100)]
    begun = []

    def work(packed):
        begun.append(packed)
        raise ZeroDivisionError(len(begun))

    with pytest.raises(ZeroDivisionError):
        run._in_batches(lattices, work, threads)
    assert len(begun) <= threads
    assert len(expected_counts(lattices, threads=threads)) == 100
