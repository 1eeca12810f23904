"""What makes a lattice, and what is refused."""

import numpy as np
import pytest

from wordsight.inference import Lattice, LatticeError, WordChain, weights_from_logs

ONE = np.ones(2)
SQUARE = np.ones((2, 2))


def _word(**changes):
    arguments = {
        "participants": (0, 1),
        "initial": ONE,
        "transition": SQUARE,
        "emission": np.ones((4, 2, 3, 3)),
    }
    return WordChain(**(arguments | changes))


FAULTY_WORDS = [
    # transition of another size
    ({"transition": np.ones((3, 3))}, "transition"),
    # no states
    ({"initial": np.ones(0), "transition": np.ones((0, 0))}, "states"),
    # too few axes for two participants
    ({"emission": np.ones((4, 2, 3))}, "emission"),
    # the same participant twice
    ({"participants": (0, 0)}, "different participants"),
    # nobody
    ({"participants": ()}, "different participants"),
    # negative, infinite and missing weights
    ({"initial": np.array([1.0, -1.0])}, "finite weights"),
    ({"emission": np.full((4, 2, 3, 3), np.inf)}, "finite weights"),
    ({"transition": np.full((2, 2), np.nan)}, "finite weights"),
    # end weights of another size
    ({"final": np.ones(3)}, "final"),
]


@pytest.mark.parametrize(("changes", "says"), FAULTY_WORDS)
def test_faulty_words(changes, says):
    with pytest.raises(LatticeError, match=says):
        _word(**changes)


FAULTY_LATTICES = [
    # no participant
    ((0, np.ones((4, 3)), np.ones((3, 3, 3))), "participant"),
    # no frame, no detection
    ((2, np.ones((0, 3)), np.ones((0, 3, 3))), "at least one frame"),
    ((2, np.ones((4, 0)), np.ones((3, 0, 0))), "at least one frame"),
    # steps of another clip
    ((2, np.ones((4, 3)), np.ones((4, 3, 3))), "coherence"),
    # weights for three participants
    ((2, np.ones((3, 4, 3)), np.ones((3, 3, 3))), "expected 2"),
    # NaN
    ((2, np.full((4, 3), np.nan), np.ones((3, 3, 3))), "finite weights"),
    # a word about somebody who is not there
    ((1, np.ones((4, 3)), np.ones((3, 3, 3)), (_word(),)), "numbered from 0"),
    # a word of another clip
    ((2, np.ones((5, 3)), np.ones((4, 3, 3)), (_word(),)), "to fit the lattice"),
]


@pytest.mark.parametrize(("arguments", "says"), FAULTY_LATTICES)
def test_faulty_lattices(arguments, says):
    with pytest.raises(LatticeError, match=says):
        Lattice(*arguments)


def test_sizes():
    lattice = Lattice(2, np.ones((4, 3)), np.ones((3, 3, 3)), (_word(),))
    assert (lattice.num_frames, lattice.num_detections, lattice.num_nodes) == (4, 3, 18)


def test_weights_from_logs_keep_what_they_take_out():
    logs = np.random.default_rng(0).normal(-800, 50, (5, 3, 3))
    logs[2] = -np.inf
    logs[0, 0, 0] = -np.inf
    weights, scale = weights_from_logs(logs)
    assert weights[2].max() == 0.0 and weights[0, 0, 0] == 0.0
    assert (weights[[0, 1, 3, 4]].max(axis=(1, 2)) == 1.0).all()
    rows = [0, 1, 3, 4]
    restored = np.log(weights[rows].max(axis=(1, 2))).sum() + scale
    assert restored == pytest.approx(logs[rows].max(axis=(1, 2)).sum())
