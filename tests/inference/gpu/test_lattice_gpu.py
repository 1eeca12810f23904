"""The lattice on torch and folded for the fused kernel: the same numbers as on the processor."""

import warnings

import numpy as np
import pytest

from wordsight.inference import Lattice, WordChain, expected_counts, log_scores
from wordsight.inference.gpu import (
    DeviceWarning,
    expected_counts_on,
    find_device,
    lattice_batch,
    lattice_run,
    log_scores_on,
)
from wordsight.inference.gpu.lattice_batch import (
    BatchShape,
    pack_batch,
    split_steps,
    split_table,
)
from wordsight.inference.gpu.lattice_run import _inputs, _split, fold_for
from wordsight.inference.gpu.lattice_torch import count_batch
from wordsight.inference.lattice.pack import log_constant
from wordsight.inference.lattice.plan import topology_of

SHAPES = {  # participants, detections, words as participants and states
    "one participant": (1, 4, [((0,), 1), ((0,), 3)]),
    "a verb": (2, 3, [((0,), 1), ((1,), 1), ((0, 1), 3)]),
    "a verb whose roles are turned": (2, 3, [((1, 0), 2)]),
    "two words with states": (2, 3, [((0, 1), 3), ((1,), 2)]),
    "a verb and a preposition": (3, 4, [((0,), 1), ((2,), 1), ((0, 1), 3), ((0, 2), 1)]),
    "a preposition turned": (3, 4, [((1, 0), 3), ((2, 0), 1), ((1,), 1)]),
    "a word of three roles": (3, 2, [((2, 0, 1), 2)]),
    "no words": (2, 3, []),
}


def random_lattice(shape, frames, seed, *, apart=False):
    people, seen, words = shape
    rng = np.random.default_rng(seed)
    lead = (people,) if apart else ()
    chains = []
    for participants, states in words:
        transition = np.triu(rng.random((states, states)) + 0.1)
        emission = rng.random((frames, states) + (seen,) * len(participants))
        chains.append(
            WordChain(
                participants,
                rng.dirichlet(np.ones(states)),
                transition / transition.sum(axis=1, keepdims=True),
                emission,
                rng.random(states) + 0.1 if seed % 2 else None,
                log_scale=0.5,
            )
        )
    unary = rng.random((*lead, frames, seen)) * (rng.random((*lead, frames, seen)) < 0.8) + 1e-3
    coherence = rng.random((*lead, frames - 1, seen, seen))
    return Lattice(people, unary, coherence, tuple(chains), log_scale=-0.25)


def assert_same(found, wanted, atol):
    assert found.log_joint == pytest.approx(wanted.log_joint, abs=max(atol, 1e-9) * 10)
    assert found.log_partition == pytest.approx(wanted.log_partition, abs=max(atol, 1e-9) * 10)
    for one, other in zip(found.tables, wanted.tables, strict=True):
        np.testing.assert_allclose(one, other, atol=atol)
    for one, other in zip(found.transitions, wanted.transitions, strict=True):
        np.testing.assert_allclose(one, other, atol=20 * atol)


@pytest.mark.parametrize("apart", [False, True], ids=["shared tracks", "own tracks"])
@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("double", [True, False])
def test_torch_equals_the_processor_also_for_clips_of_different_length(name, double, apart):
    pytest.importorskip("torch", reason="the extra 'gpu' (torch) is not installed")
    lattices = [
        random_lattice(SHAPES[name], frames, seed, apart=apart)
        for seed, frames in enumerate((6, 1, 9, 2))
    ]
    wanted = expected_counts(lattices)
    found = expected_counts_on(lattices, "torch-cpu", double=double)
    for one, other in zip(found, wanted, strict=True):
        assert_same(one, other, 1e-10 if double else 1e-5)
    scores = log_scores_on(lattices, "torch-cpu", double=double)
    for score, other in zip(scores, log_scores(lattices), strict=True):
        assert score.log_joint == pytest.approx(other.log_joint, abs=1e-9 if double else 1e-4)


def test_many_clips_are_laid_out_by_several_threads_alike(monkeypatch):
    lattices = [random_lattice(SHAPES["a preposition turned"], 1 + n % 5, n) for n in range(40)]
    shape = BatchShape(topology_of(lattices[0]), 6, 64)
    monkeypatch.setattr(lattice_batch.os, "cpu_count", lambda: 4)
    several = pack_batch(lattices, shape, np.float32)
    monkeypatch.setattr(lattice_batch.os, "cpu_count", lambda: 1)
    for one, other in zip(several, pack_batch(lattices, shape, np.float32), strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_does_not_fit_the_device_is_left_to_the_processor(monkeypatch):
    pytest.importorskip("torch", reason="the extra 'gpu' (torch) is not installed")
    lattices = [random_lattice(SHAPES["a verb"], frames, frames) for frames in (4, 40)]
    monkeypatch.setattr(lattice_run, "batch_bytes", lambda device: 16 * 40 * 27 - 1)
    found = expected_counts_on(lattices, "torch-cpu")
    wanted = expected_counts(lattices)
    assert_same(found[0], wanted[0], 1e-5)
    assert_same(found[1], wanted[1], 1e-12)


def test_an_impossible_clip_counts_nothing():
    pytest.importorskip("torch", reason="the extra 'gpu' (torch) is not installed")
    lattice = random_lattice(SHAPES["a verb"], 4, 0)
    nothing = Lattice(2, np.zeros_like(lattice.unary), lattice.coherence, lattice.words)
    first, second = expected_counts_on([nothing, lattice], "torch-cpu")
    assert first.log_joint == -np.inf
    assert all((table == 0).all() for table in first.tables)
    assert np.isfinite(second.log_joint)


@pytest.mark.parametrize("name", SHAPES)
def test_frames_and_clips_added_to_fill_a_batch_up_change_nothing(name):
    torch = pytest.importorskip("torch", reason="the extra 'gpu' (torch) is not installed")
    lattices = [random_lattice(SHAPES[name], frames, frames) for frames in (5, 3)]
    shape = BatchShape(topology_of(lattices[0]), 16, 4)
    inputs = [torch.from_numpy(array) for array in pack_batch(lattices, shape, np.float64)]
    logs, _, steps, *tables = (found.numpy() for found in count_batch(shape, *inputs))
    for n, (lattice, wanted) in enumerate(zip(lattices, expected_counts(lattices), strict=True)):
        whole = logs[n] + log_constant(lattice) + lattice.total_log_scale
        assert whole == pytest.approx(wanted.log_joint, abs=1e-10)
        for one, other in zip(
            split_steps(steps[n], lattice, possible=True), wanted.transitions, strict=True
        ):
            np.testing.assert_allclose(one, other, atol=1e-10)
        for table, word, other in zip(tables, lattice.words, wanted.tables, strict=True):
            own = split_table(table[n, : lattice.num_frames], word)
            np.testing.assert_allclose(own, other, atol=1e-10)
            assert (table[n, lattice.num_frames :] == 0).all()
    assert all((table[2:] == 0).all() for table in tables)


FOLDED = ["a verb and a preposition", "a preposition turned"]


@pytest.mark.parametrize("name", FOLDED)
def test_what_is_folded_for_the_kernel_is_read_apart_again(name):
    # The processor's kernel takes the place of the device's: same tables in, same tables out.
    lattices = [random_lattice(SHAPES[name], frames, frames) for frames in (5, 3)]
    fold = fold_for(topology_of(lattices[0]))
    inputs = _inputs(lattices, fold)
    for number, lattice in enumerate(lattices):
        length = lattice.num_frames
        rows = {key: value[number].astype(float) for key, value in inputs.items()}
        words = (
            WordChain(
                (0, 1), rows["initial"], rows["transition"], rows["pair"][:length], rows["final"]
            ),
            WordChain((0, 2), np.ones(1), np.ones((1, 1)), rows["side"][:length, None]),
        )
        folded = Lattice(3, np.ones((length, 8)), rows["step"][: length - 1], words)
        (counts,) = expected_counts([folded])
        pair, side = counts.tables
        found = _split(lattice, fold, (pair, side, counts.transitions[0], counts.log_joint))
        (wanted,) = expected_counts([lattice])
        assert found.log_joint + lattice.total_log_scale == pytest.approx(wanted.log_joint, 1e-5)
        for one, other in zip(found.tables, wanted.tables, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)
        for one, other in zip(found.transitions, wanted.transitions, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-4)


@pytest.mark.parametrize("name", [name for name in SHAPES if name not in FOLDED])
def test_shapes_that_do_not_fit_the_kernel_are_known(name):
    assert fold_for(topology_of(random_lattice(SHAPES[name], 3, 0))) is None


def test_a_preposition_between_the_second_and_the_third_does_not_fit_beside_one_of_the_first():
    shape = (3, 4, [((0, 1), 3), ((0, 2), 1), ((1, 2), 1)])
    assert fold_for(topology_of(random_lattice(shape, 3, 0))) is None


def test_a_device_that_is_not_there_is_said_and_the_processor_does_the_work():
    lattices = [random_lattice(SHAPES["a verb"], 4, 0)]
    with pytest.warns(DeviceWarning, match="processor does the work"):
        (found,) = expected_counts_on(lattices, "cuda:93")
    assert_same(found, expected_counts(lattices)[0], 1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert find_device("cpu") is None


@pytest.mark.parametrize("name", FOLDED)
def test_the_fused_kernel_equals_the_processor(name):
    torch = pytest.importorskip("torch", reason="the extra 'gpu' (torch) is not installed")
    if not torch.cuda.is_available():
        pytest.skip("no CUDA device on this machine")
    lattices = [random_lattice(SHAPES[name], frames, frames) for frames in range(1, 40)]
    for one, other in zip(
        expected_counts_on(lattices, "cuda"), expected_counts(lattices), strict=True
    ):
        assert_same(one, other, 1e-5)


def test_a_clip_float32_cannot_hold_is_done_by_the_processor():
    pytest.importorskip("torch", reason="the extra 'gpu' (torch) is not installed")
    emission = np.ones((16, 2, 3))
    emission[:8, 1] = 1e-6  # what wins in the end weighs 1e-48 of the other by the middle
    emission[8:, 0] = 1e-12
    word = WordChain((0,), np.full(2, 0.5), np.eye(2), emission)
    hard = Lattice(1, np.ones((16, 3)), np.ones((15, 3, 3)), (word,))
    plain = WordChain((0,), np.full(2, 0.5), np.eye(2), np.ones_like(emission))
    easy = Lattice(1, np.ones((16, 3)), np.ones((15, 3, 3)), (plain,))
    found = expected_counts_on([easy, hard], "torch-cpu")
    for one, other in zip(found, expected_counts([easy, hard]), strict=True):
        assert_same(one, other, 1e-5)
