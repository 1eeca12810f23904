"""Settings to average over: which one is best cannot be known without labels, so none is picked.

Settings are spread evenly over ranges that are wide on purpose, by a Halton sequence shifted at
random; the first few of them cover the ranges as well as many do.
"""

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.models.hsmm import HSMM
from wordsight.alignment.models.lcrf import LCRF

__all__ = ["hsmm_members", "lcrf_members"]

_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19)
_JUMPS = ((0, 1), (0, 1, 2), (0, 1, 2, 3))


def hsmm_members(count: int, random_state: int = 0) -> list[HSMM]:
    """Return unfitted semi-Markov models with settings spread over their ranges."""
    return [
        HSMM(
            concentration=_between(row[0], 2.0, 10.0),
            growth=0.5 + 0.5 * row[1],
            temperature=_between(row[2], 0.2, 1.0),
            dependence=0.25 + 0.75 * row[3],
            smoothing=_between(row[4], 0.1, 0.5),
            null=0.05 + 0.15 * row[5],
        )
        for row in _spread(count, 6, random_state).tolist()
    ]


def lcrf_members(count: int, random_state: int = 0) -> list[LCRF]:
    """Return unfitted conditional random fields with settings spread over their ranges."""
    members = []
    for number, row in enumerate(_spread(count, 6, random_state + 1).tolist()):
        members.append(
            LCRF(
                # Every third one alike in jumps, in shapes after three times as many.
                offsets=_JUMPS[number % 3],
                shape=("centre", "outside", "widths")[number // 3 % 3],
                sets=("all", "nonempty", 3)[(number + number // 3) % 3],
                growth=0.5 + 0.5 * row[0],
                clock=_between(row[1], 2.0, 15.0),
                null=0.05 + 0.25 * row[2],
                smoothing=_between(row[3], 0.1, 1.0),
                scale=_between(row[4], 0.2, 0.6),
                penalty=_between(row[5], 0.03, 1.0),
            )
        )
    return members


def _between(share: float, low: float, high: float) -> float:
    """Return a value between two, evenly in its logarithm."""
    return float(low * (high / low) ** share)


def _spread(count: int, dimensions: int, random_state: int) -> NDArray[np.float64]:
    """Return ``(count, dimensions)`` points spread evenly in the unit cube."""
    shifts = np.random.default_rng(random_state).random(dimensions)
    columns = [
        [_radical_inverse(number + 1, prime) for number in range(count)]
        for prime in _PRIMES[:dimensions]
    ]
    points = (np.array(columns).reshape(dimensions, count).T + shifts) % 1.0
    return np.asarray(points)


def _radical_inverse(number: int, base: int) -> float:
    value, scale = 0.0, 1.0 / base
    while number:
        number, digit = divmod(number, base)
        value += digit * scale
        scale /= base
    return value
