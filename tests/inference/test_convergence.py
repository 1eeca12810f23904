"""The monitor of an EM loop, and a loop on lattices whose objective must never fall."""

import math

import numpy as np
import pytest

from wordsight.inference import (
    ConvergenceMonitor,
    Lattice,
    ObjectiveFellError,
    ObjectiveFellWarning,
    WordChain,
    expected_counts,
)


def test_stops_when_the_rise_is_small():
    monitor = ConvergenceMonitor(tolerance=0.5)
    assert [monitor.update(value) for value in (-10.0, -5.0, -4.8)] == [False, False, True]
    assert monitor.converged and monitor.history == [-10.0, -5.0, -4.8]


def test_stops_after_the_last_iteration():
    monitor = ConvergenceMonitor(tolerance=0.0, max_iterations=2)
    assert [monitor.update(value) for value in (-10.0, -5.0)] == [False, True]
    assert not monitor.converged and monitor.finished


def test_a_fall_is_reported_as_wished():
    with pytest.raises(ObjectiveFellError, match="fell from -1 to -2 in iteration 2"):
        _fed(ConvergenceMonitor(), -1.0, -2.0)
    with pytest.warns(ObjectiveFellWarning, match="should only rise"):
        _fed(ConvergenceMonitor(falling="warn"), -1.0, -2.0)
    assert _fed(ConvergenceMonitor(falling="ignore"), -1.0, -2.0).rise == -1.0


def test_rounding_is_no_fall():
    monitor = _fed(ConvergenceMonitor(tolerance=0.0), -1e6, -1e6 - 1e-5)
    assert monitor.num_iterations == 2 and -1e-4 < monitor.rise < 0


def test_an_interrupted_fit_goes_on_where_it_was():
    whole = _fed(ConvergenceMonitor(tolerance=0.0), -4.0, -3.0, -2.5)
    resumed = _fed(ConvergenceMonitor(tolerance=0.0, history=[-4.0, -3.0]), -2.5)
    assert resumed == whole
    resumed.restart()
    assert resumed.num_iterations == 0 and resumed.rise == math.inf


def test_bad_values():
    with pytest.raises(ValueError, match="not a number"):
        ConvergenceMonitor().update(math.nan)
    with pytest.raises(ValueError, match="max_iterations"):
        ConvergenceMonitor(max_iterations=0)
    assert not ConvergenceMonitor().update(-math.inf)


def _fed(monitor, *objectives):
    for objective in objectives:
        monitor.update(objective)
    return monitor


@pytest.mark.parametrize("seed", range(3))
def test_baum_welch_on_lattices_never_falls(seed):
    random = np.random.default_rng(seed)
    clips = [_clip(random, frames) for frames in (6, 9, 12, 7)]
    words = {
        "verb": _drawn(random, 3, 6),
        "noun": _drawn(random, 1, 4),
        "adverb": _drawn(random, 2, 5),
    }
    monitor = ConvergenceMonitor(tolerance=0.0, max_iterations=8, falling="raise")
    finished = False
    while not finished:
        counts = expected_counts([_sentence(clip, words) for clip in clips])
        finished = monitor.update(sum(c.log_likelihood for c in counts))
        words = {
            name: _reestimated(name, number, words, clips, counts)
            for number, name in enumerate(words)
        }
    assert monitor.num_iterations == 8
    assert all(b >= a - 1e-9 for a, b in zip(monitor.history, monitor.history[1:], strict=False))
    assert monitor.history[-1] > monitor.history[0] + 1.0


def _clip(random, frames, count=3):
    return {
        "unary": random.random((frames, count)),
        "coherence": random.random((frames - 1, count, count)),
        "verb": random.integers(0, 6, (frames, count, count)),
        "noun": random.integers(0, 4, (frames, count)),
        "adverb": random.integers(0, 5, (frames, count)),
    }


def _drawn(random, states, bins):
    return (
        random.dirichlet(np.ones(states)),
        random.dirichlet(np.ones(states), states),
        random.dirichlet(np.ones(bins), states),
    )


def _sentence(clip, words):
    chains = []
    for name, participants in (("verb", (0, 1)), ("noun", (1,)), ("adverb", (0,))):
        initial, transition, outputs = words[name]
        emission = np.moveaxis(outputs[:, clip[name]], 0, 1)
        chains.append(WordChain(participants, initial, transition, emission))
    return Lattice(2, clip["unary"], clip["coherence"], tuple(chains))


def _reestimated(name, number, words, clips, counts):
    initial, transition, outputs = (np.zeros_like(part) for part in words[name])
    for clip, count in zip(clips, counts, strict=True):
        initial += count.initial(number)
        transition += count.transitions[number]
        for state in range(len(outputs)):
            weights = count.tables[number][:, state].ravel()
            outputs[state] += np.bincount(clip[name].ravel(), weights, outputs.shape[1])
    return tuple(part / part.sum(axis=-1, keepdims=True) for part in (initial, transition, outputs))
