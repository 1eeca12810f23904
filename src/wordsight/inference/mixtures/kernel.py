"""The compiled EM of a small Gaussian mixture.

Importing this module imports numba: import it where it is needed. Samples come in blocks that fit
the cache, laid out for the two matrix products of an EM step; everything between the products
(largest exponent, exponential, sum, division) happens while a block is still there.
"""

import numpy as np
from numba import njit

__all__ = ["block_sizes", "fill_blocks", "fit_blocks"]

MOST = 704
"""Samples in a block at most: what one block needs stays in the second-level cache."""

_LOG2_E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
# Adding it rounds a number to an integer and leaves that integer in the lowest bits.
_ROUNDING = 6755399441055744.0
_LEAST = -700.0  # exponents below vanish beside the largest one of a sample, which is 0
_NEVER = -1e300  # log weight of a component that has no samples
_LOGS_AT_ONCE = 16  # sums lie between 1 and the number of components: so many multiply safely


# No reassociation: it would cancel the rounding trick.
@njit(cache=True, nogil=True, fastmath={"contract"}, error_model="numpy")
def _exponentials(row, top, bits, total, count):  # type: ignore[no-untyped-def]
    """Replace ``row`` by exp(row - top) and add it to ``total``; vectors, no calls."""
    for i in range(count):
        value = max(row[i] - top[i], _LEAST)
        rounded = value * _LOG2_E + _ROUNDING
        bits[i] = rounded
        power = rounded - _ROUNDING
        r = value - power * _LN2_HIGH - power * _LN2_LOW
        high = 1 / 720 + r * (1 / 5040 + r * (1 / 40320 + r * (1 / 362880 + r / 3628800)))
        low = 1 / 6 + r * (1 / 24 + r * (1 / 120 + r * high))
        row[i] = 1.0 + r * (1.0 + r * (0.5 + r * low))
    # Multiply by two to the power: add it to the exponent bits.
    whole, powers = row.view(np.int64), bits.view(np.int64)
    for i in range(count):
        whole[i] += powers[i] << 52
    for i in range(count):
        total[i] += row[i]


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"}, error_model="numpy")
def _posteriors(logs, top, total, bits, count):  # type: ignore[no-untyped-def]
    """Turn ``logs`` (C, width) into posteriors in place; return the log likelihood of the block."""
    components = logs.shape[0]
    for i in range(count):
        top[i] = logs[0, i]
        total[i] = 0.0
    for c in range(1, components):
        row = logs[c]
        for i in range(count):
            top[i] = max(top[i], row[i])
    for c in range(components):
        _exponentials(logs[c], top, bits, total, count)
    score = 0.0
    for i in range(count):
        score += top[i]
    for start in range(0, count, _LOGS_AT_ONCE):
        product = 1.0
        for i in range(start, min(start + _LOGS_AT_ONCE, count)):
            product *= total[i]
        score += np.log(product)
    for i in range(count):
        total[i] = 1.0 / total[i]
    for c in range(components):
        row = logs[c]
        for i in range(count):
            row[i] *= total[i]
    return score


def block_sizes(count: int) -> tuple[int, int]:
    """Return how many blocks of what width hold ``count`` samples: few, even, hardly any empty."""
    number = -(-count // MOST)
    return number, -(-count // (8 * number)) * 8  # whole vectors


@njit(cache=True, nogil=True, error_model="numpy")
def fill_blocks(samples, blocks):  # type: ignore[no-untyped-def]
    """Lay ``samples`` (N, n), squares and ones out in ``blocks`` (B, 2n + 1, width), all zero."""
    count, dimensions = samples.shape
    width = blocks.shape[2]
    for first in range(0, count, width):
        block = blocks[first // width]
        here = min(width, count - first)
        for d in range(dimensions):
            plain, square = block[d], block[dimensions + d]
            for i in range(here):
                value = samples[first + i, d]
                plain[i] = value
                square[i] = value * value
        block[2 * dimensions, :here] = 1.0


@njit(cache=True, nogil=True, error_model="numpy")
def _terms(weights, means, variances, terms):  # type: ignore[no-untyped-def]
    """Fill ``terms`` (C, 2n + 1): factors of the samples, of their squares, and of 1."""
    components, dimensions = means.shape
    for c in range(components):
        constant = np.log(weights[c]) if weights[c] > 0.0 else _NEVER
        for d in range(dimensions):
            terms[c, d] = means[c, d] / variances[c, d]
            terms[c, dimensions + d] = -0.5 / variances[c, d]
            constant -= 0.5 * (np.log(2.0 * np.pi * variances[c, d]) + means[c, d] * terms[c, d])
        terms[c, 2 * dimensions] = constant


@njit(cache=True, nogil=True, error_model="numpy")
def _maximise(sums, count, floor, weights, means, variances):  # type: ignore[no-untyped-def]
    """Set the parameters from ``sums`` (C, 2n + 1) of samples, squares and posteriors."""
    components, dimensions = means.shape
    for c in range(components):
        mass = sums[c, 2 * dimensions]
        weights[c] = mass / count
        if not mass > 1e-200:
            weights[c] = 0.0
            continue
        for d in range(dimensions):
            mean = sums[c, d] / mass
            means[c, d] = mean
            # The floor keeps the step exact: under it the likelihood only falls.
            variances[c, d] = max(sums[c, dimensions + d] / mass - mean * mean, floor[d])


@njit(cache=True, nogil=True, error_model="numpy")
def fit_blocks(blocks, count, weights, means, variances, floor, tolerance, history):  # type: ignore[no-untyped-def]
    """Fit one mixture in place.

    Args:
        blocks: (B, 2n + 1, width) samples, squares and ones; zero where the samples end.
        count: Number of samples.
        weights: (C,), and
        means: (C, n), and
        variances: (C, n): where to start, replaced by what was found.
        floor: (n,) least variance.
        tolerance: Least rise of the log likelihood per sample that is worth another step.
        history: (I,) log likelihood per sample at each iteration's start, filled.

    Returns:
        How many iterations ``history`` tells of.
    """
    components = len(means)
    number, features, width = blocks.shape
    logs = np.empty((components, width))
    top, total, bits = np.empty(width), np.empty(width), np.empty(width)
    terms, sums, part = (
        np.empty((components, features)),
        np.empty((components, features)),
        np.empty((components, features)),
    )
    for iteration in range(len(history)):
        _terms(weights, means, variances, terms)
        sums[:] = 0.0
        score = 0.0
        left = count
        last = iteration + 1 == len(history)
        for block in range(number):
            here = min(width, left)
            left -= here
            np.dot(terms, blocks[block], logs)
            score += _posteriors(logs, top, total, bits, here)
            if last:
                continue  # nothing will be set from the sums
            for c in range(components):
                logs[c, here:] = 0.0
            np.dot(logs, blocks[block].T, part)
            sums += part
        history[iteration] = score / count
        if iteration and history[iteration] - history[iteration - 1] < tolerance:
            return iteration + 1
        if not last:
            _maximise(sums, count, floor, weights, means, variances)
    return len(history)
