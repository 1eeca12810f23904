"""Without numba all works by plain numpy, and says so once; BLAS works in one thread if asked."""

import subprocess
import sys

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from wordsight.inference.chains import hmm
from wordsight.inference.lattice import run
from wordsight.inference.numba_support import one_blas_thread

MODULES = (hmm, run)


@pytest.fixture
def without_numba(monkeypatch):
    for module in MODULES:
        monkeypatch.setattr(module, "numba_available", lambda: False)


def test_sums_and_counts_of_rows_are_the_same_without_numba(monkeypatch):
    rng = np.random.default_rng(0)
    places, table = rng.integers(0, 7, (3, 5, 4)), rng.random((7, 2))
    shares = rng.random((5, 4, 2))
    wanted = hmm.summed_rows(places, table), hmm.counted_rows(places, shares, 7)
    monkeypatch.setattr(hmm, "numba_available", lambda: False)
    np.testing.assert_allclose(hmm.summed_rows(places, table), wanted[0], rtol=1e-13)
    np.testing.assert_allclose(hmm.counted_rows(places, shares, 7), wanted[1], rtol=1e-13)


def test_chains_are_the_same_without_numba(without_numba):
    rng = np.random.default_rng(1)
    logs, start, end = rng.normal(size=(6, 5, 3)), np.ones(3) / 3, np.ones(3)
    steps = rng.dirichlet(np.ones(3), 3)
    scores = hmm.chain_scores(logs, start, steps, end)
    np.testing.assert_allclose(scores, hmm.chain_scores(logs, start, steps, end, "reference"))
    counted = hmm.chain_counts(logs, start, steps, end, np.ones(5))
    np.testing.assert_allclose(counted.states.sum(axis=2), 1.0)


def test_a_machine_without_numba_is_told_once_and_goes_on():
    program = """
import sys, warnings
for name in ("numba", "cv2", "av", "lark"):
    sys.modules[name] = None
import numpy as np
from wordsight.inference import Lattice, log_scores
lattice = Lattice(2, np.ones((3, 2)), np.ones((2, 2, 2)))
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    scores = [log_scores([lattice])[0] for _ in range(2)]
print(len(told), str(told[0].message).split(":")[0], round(np.exp(scores[0].log_joint)))
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stdout.strip() == "1 numba is not installed 64"


def test_blas_has_its_threads_again_after_the_last_of_several_asked_for_one():
    def threads():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        second.__enter__()
        assert threads() == {1}
        first.__exit__(None, None, None)  # not the one that came last
        assert threads() == {1}
        second.__exit__(None, None, None)
        assert threads() == {2}
