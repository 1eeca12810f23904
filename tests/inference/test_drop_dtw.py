"""Drop-DTW against every way to match and drop."""

from itertools import product

import numpy as np
import pytest

from wordsight.alignment.models.drop_dtw import drop_dtw
from wordsight.inference.lattice.model import LatticeError


def cost_of(path, costs, drops):
    """Return the cost of a labelling, infinite unless it goes through all lines in order."""
    lines = [line for line in path if line >= 0]
    if sorted(set(lines)) != list(range(costs.shape[1])) or lines != sorted(lines):
        return np.inf
    return sum(drops[t] if line < 0 else costs[t, line] for t, line in enumerate(path))


@pytest.mark.parametrize("seed", range(8))
def test_the_cheapest_of_all_labellings_is_found(seed):
    chance = np.random.default_rng(seed)
    costs, drops = chance.random((6, 3)), 0.6 * chance.random(6)
    best, path = drop_dtw(costs, drops)
    cheapest = min(cost_of(p, costs, drops) for p in product(range(-1, 3), repeat=6))
    assert best == pytest.approx(cheapest, abs=1e-12)
    assert cost_of(path.tolist(), costs, drops) == pytest.approx(best, abs=1e-12)


def test_fewer_chunks_than_lines_are_refused():
    with pytest.raises(LatticeError, match="3 lines"):
        drop_dtw(np.zeros((2, 3)), np.zeros(2))
