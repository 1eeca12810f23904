"""Clock time: when steps are due, how long they last, in which order they come, when they change.

Much of what touches leave open is settled by time alone: a step in the middle of the text happens
in the middle of the video.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.constraints import FORBIDDEN
from wordsight.alignment.models.encoding import Encoded

__all__ = [
    "CHANGE_KINDS",
    "ChangePoints",
    "chunk_moments",
    "clock_uniform",
    "duration_weights",
    "edge_moments",
    "find_change_points",
    "lateness",
    "num_ticks",
    "order_weights",
    "step_shares",
]

Array = NDArray[np.float64]

_PAUSES = (0.01, 1.0, 3.0)  # seconds between none, short, medium and long pauses
_OVERLAPS = 3  # no, some or all touched things stay the same

CHANGE_KINDS = (len(_PAUSES) + 1) * _OVERLAPS
"""Number of kinds of change points: pauses times overlaps."""

_ROUNDING = 1e-6  # seconds; smaller pauses are rounding errors


@dataclass(frozen=True, eq=False)
class ChangePoints:
    """Times at which a step may change, including the start and the end of the video.

    Attributes:
        first: ``(E - 1,)`` first chunk of each unit between neighbouring change points.
        moments: ``(E,)`` times from 0 at the start to 1 at the end.
        kinds: ``(E,)`` kinds of change, 0 .. ``CHANGE_KINDS`` - 1.
        units: ``(T,)`` unit of each chunk.
    """

    first: NDArray[np.int64]
    moments: Array
    kinds: NDArray[np.int64]
    units: NDArray[np.int64]

    @property
    def sizes(self) -> Array:
        """``(E - 1,)`` number of chunks of each unit."""
        return np.asarray(np.bincount(self.units).astype(np.float64))


def find_change_points(
    encoded: Encoded, *, fewest: int = 1, most: int = 800, bias: Array | float = 0.0
) -> ChangePoints:
    """Find the change points of a video.

    Args:
        encoded: The text and the video.
        fewest: Least number of units; if changes give fewer, every chunk is a unit.
        most: Most units kept of a long video, spread evenly over time.
        bias: ``(T, N)`` log weights of constraints; a step may change where they change.
    """
    tokens = encoded.things.tokens
    pauses = encoded.times[1:, 0] - encoded.times[:-1, 1]
    changes = (pauses > _ROUNDING) | (tokens[1:] != tokens[:-1]).any(axis=1)
    constrained = _constrained(encoded, bias)
    changes |= constrained
    if changes.sum() + 1 < fewest:
        changes[:] = True
    moments = edge_moments(encoded)
    if changes.sum() >= most:
        changes = _thinned(changes, pauses, moments[1:-1], most) | constrained
    first = np.concatenate([[0], 1 + np.flatnonzero(changes)])
    places = np.append(first, encoded.num_chunks)
    units = np.searchsorted(first, np.arange(encoded.num_chunks), side="right") - 1
    return ChangePoints(first, moments[places], _kinds(tokens, pauses)[places], units)


def _kinds(tokens: Array, pauses: Array) -> NDArray[np.int64]:
    """Return ``(T + 1,)`` the kind of change between chunks; the outermost are not used."""
    shared = (tokens[1:] * tokens[:-1]).sum(axis=1)
    either = np.maximum(tokens[1:], tokens[:-1]).sum(axis=1)
    overlap = np.where(shared == 0, 0, np.where(shared == either, 2, 1))
    kinds = np.digitize(pauses, _PAUSES) * _OVERLAPS + overlap
    return np.concatenate([[0], kinds, [0]]).astype(np.int64)


def _thinned(
    changes: NDArray[np.bool_], pauses: Array, moments: Array, most: int
) -> NDArray[np.bool_]:
    """Keep the change with the longest pause in each of ``most`` equal intervals of time."""
    places = np.flatnonzero(changes)
    interval = np.minimum((moments[places] * most).astype(np.int64), most - 1)
    order = np.lexsort((-pauses[places], interval))
    _, leaders = np.unique(interval[order], return_index=True)
    kept = np.zeros(len(changes), dtype=bool)
    kept[places[order[leaders]]] = True
    return kept


def _constrained(encoded: Encoded, bias: Array | float) -> NDArray[np.bool_]:
    if isinstance(bias, float):
        return np.zeros(encoded.num_chunks - 1, dtype=bool)
    forbidden = bias <= FORBIDDEN / 2
    return np.asarray((forbidden[1:] != forbidden[:-1]).any(axis=1))


def step_shares(encoded: Encoded, growth: float) -> Array:
    """Return ``(K,)`` the expected share of the video of each step.

    Args:
        encoded: The text.
        growth: How the time of a step grows with its lines: 0 not at all, 1 in proportion.
    """
    weights = encoded.lines_per_step.astype(np.float64) ** growth
    return np.asarray(weights / weights.sum())


def chunk_moments(encoded: Encoded) -> Array:
    """Return ``(T,)`` the middle of each chunk, from 0 at the first start to 1 at the last end."""
    first, last = _span(encoded)
    return np.asarray((encoded.times.mean(axis=1) - first) / (last - first))


def edge_moments(encoded: Encoded) -> Array:
    """Return ``(T + 1,)`` times between neighbouring chunks, 0 at the start to 1 at the end.

    A gap between two chunks is divided in the middle.
    """
    first, last = _span(encoded)
    middles = (encoded.times[1:, 0] + encoded.times[:-1, 1]) / 2
    seconds = np.concatenate([[encoded.times[0, 0]], middles, [encoded.times[-1, 1]]])
    return np.asarray((seconds - first) / (last - first))


def lateness(encoded: Encoded, growth: float, shape: str) -> Array:
    """Return ``(T, N)`` the distance of each chunk from when each line's step is due.

    Args:
        encoded: The text and the video.
        growth: How the time of a step grows with its lines.
        shape: "centre" for the distance from the middle of the step, "outside" for the distance
            beyond its ends, "widths" for the square of the distance in widths of the step.
    """
    shares = step_shares(encoded, growth)
    ends = np.cumsum(shares)
    starts, middles = ends - shares, ends - shares / 2
    moments = chunk_moments(encoded)[:, None]
    if shape == "centre":
        distance = np.abs(moments - middles)
    elif shape == "outside":
        distance = np.maximum(np.maximum(starts - moments, moments - ends), 0.0)
    else:
        # The factor makes one weight suit all three shapes.
        distance = 0.05 * ((moments - middles) / shares) ** 2
    return np.asarray(distance[:, encoded.steps])


def clock_uniform(encoded: Encoded, growth: float = 0.5) -> NDArray[np.int64]:
    """Return ``(T,)`` the step of each chunk by the clock alone, without observations."""
    ends = np.cumsum(step_shares(encoded, growth))
    steps = np.searchsorted(ends, chunk_moments(encoded), side="right")
    return np.minimum(steps, encoded.num_steps - 1)


def _span(encoded: Encoded) -> tuple[float, float]:
    first, last = float(encoded.times[0, 0]), float(encoded.times[-1, 1])
    return first, last if last > first else first + 1.0


_LEAST_TICKS = 2048  # per video
_TICKS_PER_STEP = 64
_FURTHEST = 2  # steps skipped or gone back at once
_NEGLIGIBLE = -45.0  # nats below the peak; less probable durations are not considered


def num_ticks(steps: int) -> int:
    """Return the number of clock ticks of a video with so many steps."""
    return max(_LEAST_TICKS, _TICKS_PER_STEP * steps)


def duration_weights(shares: Array, concentration: float, units: int) -> Array:
    """Return ``(K, G)`` the weight of each step lasting 0 .. G - 1 ticks.

    Gamma distributions with the steps' shares as means; given that they fill the video, they form a
    Dirichlet distribution.

    Args:
        shares: ``(K,)`` expected share of each step.
        concentration: Shape of the distribution of an average step.
        units: Number of units of the video, by which weights are divided.
    """
    ticks = num_ticks(len(shares))
    rate = concentration * len(shares)
    shapes = (rate * shares)[:, None]
    # Half a tick for steps that end in the tick they began in.
    lengths = np.maximum(np.arange(ticks + 1), 0.5) / ticks
    # All decline at one rate, so durations of the longest step remain likely for longest; only
    # these are computed for every step, since a text of thousands of steps has as many ticks again.
    widest = (shapes.max() - 1) * np.log(lengths) - rate * lengths
    longest = int(np.flatnonzero(widest > widest.max() + _NEGLIGIBLE)[-1]) + 1
    logs = (shapes - 1) * np.log(lengths[:longest]) - rate * lengths[:longest]
    constants = [math.lgamma(shape) for shape in shapes[:, 0]]
    logs += shapes * np.log(rate) - np.array(constants)[:, None] - np.log(units)
    return np.exp(logs)


def order_weights(steps: int, skip: float, back: float) -> tuple[Array, Array, Array]:
    """Return log weights of one step after another ``(K, K)``, of the first and of the last.

    Args:
        steps: K, the number of steps.
        skip: Probability of leaving a step out; of leaving two out its square.
        back: Probability of going back one step; of going back two its square.
    """
    moves = {1: 1.0}
    for distance in range(1, _FURTHEST + 1):
        moves[1 + distance] = skip**distance
        moves[-distance] = back**distance
    total = sum(moves.values())
    transition = np.zeros((steps, steps))
    for move, weight in moves.items():
        transition += np.eye(steps, k=move) * (weight / total)
    ends = np.zeros(steps)
    for distance in range(min(_FURTHEST + 1, steps)):
        ends[distance] = skip**distance / total
    with np.errstate(divide="ignore"):
        return np.log(transition), np.log(ends), np.log(ends[::-1])
