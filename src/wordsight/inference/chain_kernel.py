"""The compiled chains: one small hidden Markov chain per track or pair of tracks, many at once.

Importing this module imports numba: import it where it is needed. All functions release the
interpreter lock, and the machine code is kept on disk after the first call.
"""

import numpy as np
from numba import njit

__all__ = ["counts_of_chains", "scores_of_chains"]


@njit(cache=True, nogil=True)
def _forward(logs, chain, initial, transition, alpha, weights):  # type: ignore[no-untyped-def]
    """Fill ``alpha`` and ``weights``, both (T, I) and scaled per frame; return the log scale.

    Returns -inf where a frame has no possible state.
    """
    frames, _, states = logs.shape
    total = 0.0
    for t in range(frames):
        top = logs[t, chain, 0]
        for i in range(1, states):
            top = max(top, logs[t, chain, i])
        if top == -np.inf:
            return -np.inf
        mass = 0.0
        for i in range(states):
            weights[t, i] = np.exp(logs[t, chain, i] - top)
            value = initial[i]
            if t:
                value = 0.0
                for k in range(states):
                    value += alpha[t - 1, k] * transition[k, i]
            alpha[t, i] = value * weights[t, i]
            mass += alpha[t, i]
        if not mass > 0.0:
            return -np.inf
        for i in range(states):
            alpha[t, i] /= mass
        total += top + np.log(mass)
    return total


@njit(cache=True, nogil=True)
def _ended(last, final):  # type: ignore[no-untyped-def]
    mass = 0.0
    for i in range(len(final)):
        mass += last[i] * final[i]
    return mass


@njit(cache=True, nogil=True)
def scores_of_chains(logs, initial, transition, final, scores):  # type: ignore[no-untyped-def]
    """Fill ``scores`` (N,) with the log likelihood of each chain of ``logs`` (T, N, I)."""
    frames, chains, states = logs.shape
    alpha, weights = np.empty((frames, states)), np.empty((frames, states))
    for n in range(chains):
        total = _forward(logs, n, initial, transition, alpha, weights)
        mass = _ended(alpha[frames - 1], final) if total > -np.inf else 0.0
        scores[n] = total + np.log(mass) if mass > 0.0 else -np.inf


@njit(cache=True, nogil=True)
def _backward(transition, weights, final, beta):  # type: ignore[no-untyped-def]
    """Fill ``beta`` (T, I), each frame scaled to sum to one."""
    frames, states = beta.shape
    beta[frames - 1] = final
    for t in range(frames - 2, -1, -1):
        mass = 0.0
        for i in range(states):
            value = 0.0
            for k in range(states):
                value += transition[i, k] * weights[t + 1, k] * beta[t + 1, k]
            beta[t, i] = value
            mass += value
        for i in range(states):
            beta[t, i] /= mass


@njit(cache=True, nogil=True)
def _add_steps(alpha, beta, weights, transition, share, steps):  # type: ignore[no-untyped-def]
    """Add the expected steps of one chain, times ``share``, to ``steps`` (I, I)."""
    frames, states = alpha.shape
    for t in range(1, frames):
        mass = 0.0
        for i in range(states):
            for k in range(states):
                mass += alpha[t - 1, i] * transition[i, k] * weights[t, k] * beta[t, k]
        factor = share / mass
        for i in range(states):
            for k in range(states):
                step = alpha[t - 1, i] * transition[i, k] * weights[t, k] * beta[t, k]
                steps[i, k] += factor * step


@njit(cache=True, nogil=True)
def counts_of_chains(  # type: ignore[no-untyped-def]
    logs, initial, transition, final, shares, posteriors, steps
):
    """Fill ``posteriors`` (T, N, I) with shares of states and add shares of steps to ``steps``."""
    frames, chains, states = logs.shape
    alpha, beta = np.empty((frames, states)), np.empty((frames, states))
    weights = np.empty((frames, states))
    for n in range(chains):
        posteriors[:, n] = 0.0
        share = shares[n]
        if share == 0.0:
            continue
        total = _forward(logs, n, initial, transition, alpha, weights)
        if total == -np.inf or not _ended(alpha[frames - 1], final) > 0.0:
            continue
        _backward(transition, weights, final, beta)
        for t in range(frames):
            mass = _ended(alpha[t], beta[t])
            for i in range(states):
                posteriors[t, n, i] = share * alpha[t, i] * beta[t, i] / mass
        _add_steps(alpha, beta, weights, transition, share, steps)
