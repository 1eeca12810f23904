"""Joining tracklets over gaps into tracks; interpolation, smoothing and extrapolation of boxes."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from wordsight.perception.tracking.coherence import Coherence, States, local_lines
from wordsight.perception.tracking.paths import disjoint_paths
from wordsight.perception.tracking.tracklets import FlatDetections, Tracklets

__all__ = ["GapCosts", "extend", "fill", "join_tracklets", "smooth"]


_BLOCK_PAIRS = 1_000_000  # pairs of tracklets compared at a time, to bound memory
_STILL = 0.2  # box sizes per second; slower is at rest
_REST_COST = 1.0  # of being hidden at rest, instead of a cost per second


@dataclass(frozen=True)
class GapCosts:
    """Costs of gaps.

    Attributes:
        ends: Cost of a track's start and end together.
        missed: Cost of a gap.
        per_second: Cost of a gap per second.
        longest: Longest gap in seconds.
        flip: Cost of a change of class.
        resting: Longest time in seconds that a thing at rest may be hidden.
    """

    ends: float
    missed: float
    per_second: float
    longest: float
    flip: float
    resting: float


def join_tracklets(
    seen: FlatDetections,
    tracklets: Tracklets,
    coherence: Coherence,
    costs: GapCosts,
    velocity_window: float,
) -> tuple[list[NDArray[np.intp]], NDArray[np.float64]]:
    """Join tracklets into tracks, and drop those without gain.

    Args:
        seen: The detections.
        tracklets: The tracklets.
        coherence: Gain of a link.
        costs: Costs of gaps.
        velocity_window: Half the window for size and velocity at a tracklet's end, in seconds.

    Returns:
        The detections of each track, in order of time, and the gain of each track.
    """
    paths = tracklets.paths
    if not paths:
        return [], np.zeros(0)
    starts, stops = _ends(tracklets, velocity_window)
    firsts, lasts = (np.array([path[end] for path in paths]) for end in (0, -1))
    first_rows, last_rows = seen.rows[firsts], seen.rows[lasts]
    first_labels, last_labels = seen.labels[firsts], seen.labels[lasts]
    tails, heads, gains = [], [], []
    longest = max(costs.longest, costs.resting) + seen.frame_seconds
    for one, other in _candidates(starts.times, stops.times, longest):
        before, after = stops[one], starts[other]
        hidden = np.maximum(after.times - before.times - seen.frame_seconds, 0.0)
        gain = coherence.gains(coherence.distances(before, after, tracklets.jitter))
        gain -= costs.per_second * hidden
        gain[hidden > costs.longest] = -np.inf
        rest = _is_still(before) & _is_still(after) & (hidden <= costs.resting)
        gain[rest] = np.maximum(
            gain[rest], _gain_at_rest(before, after, rest, coherence, tracklets.jitter)
        )
        gain -= costs.missed * (first_rows[other] - last_rows[one] > 1)
        gain -= costs.flip * (last_labels[one] != first_labels[other])
        worth = gain > -costs.ends
        tails.append(one[worth])
        heads.append(other[worth])
        gains.append(gain[worth])
    half = costs.ends / 2.0
    joined, totals = disjoint_paths(
        tracklets.gains,
        np.concatenate(tails),
        np.concatenate(heads),
        np.concatenate(gains),
        entry_cost=half,
        exit_cost=half,
    )
    return [np.concatenate([paths[part] for part in chain]) for chain in joined], totals


def _is_still(states: States) -> NDArray[np.bool_]:
    """Return which states are known to be at rest."""
    speed = np.abs(states.velocities) / states.sizes + np.sqrt(states.variances)
    return np.asarray((speed < _STILL).all(axis=1))


def _gain_at_rest(
    before: States,
    after: States,
    rest: NDArray[np.bool_],
    coherence: Coherence,
    jitter: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return G of links between things at rest, which stay where they are while they are hidden."""
    which = np.flatnonzero(rest)
    still = np.zeros((len(which), 2))
    one, other = (
        replace(states[which], times=np.zeros(len(which)), velocities=still, variances=still)
        for states in (before, after)
    )
    return coherence.gains(coherence.distances(one, other, jitter)) - _REST_COST


def _ends(tracklets: Tracklets, half_window: float) -> tuple[States, States]:
    """Return the first and last states of tracklets, sizes averaged over the window."""
    states, lengths = tracklets.states, [len(path) for path in tracklets.paths]
    nodes = np.concatenate(tracklets.paths)
    groups = np.repeat(np.arange(len(lengths)), lengths)
    stops = np.cumsum(lengths) - 1
    both = []
    for places in (np.append(0, stops[:-1] + 1), stops):
        lines = local_lines(
            states.times[nodes], np.log(states.sizes[nodes]), groups, places, half_window
        )
        end = states[nodes[places]]
        both.append(
            States(end.times, end.centres, np.exp(lines.means), end.velocities, end.variances)
        )
    return both[0], both[1]


def _candidates(
    starts: NDArray[np.float64], stops: NDArray[np.float64], longest: float
) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield pairs of tracklets separated by at most the longest gap, in blocks."""
    order = np.argsort(starts, kind="stable")
    low = np.searchsorted(starts[order], stops, side="right")
    high = np.searchsorted(starts[order], stops + longest, side="right")
    counts = high - low
    blocks = np.cumsum(counts) // _BLOCK_PAIRS
    for block in np.unique(blocks):
        ones = np.flatnonzero(blocks == block)
        tails = np.repeat(ones, counts[ones])
        firsts = np.repeat(np.cumsum(counts[ones]) - counts[ones], counts[ones])
        yield tails, order[low[tails] + np.arange(len(tails)) - firsts]


def fill(
    rows: NDArray[np.intp], boxes: NDArray[np.float64], times: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Interpolate the boxes of a track linearly in time.

    Args:
        rows: ``(N,)`` its frames, ascending.
        boxes: ``(N, 4)`` its boxes there.
        times: ``(T,)`` times of all frames in seconds.

    Returns:
        All frames ``(M,)`` from the first to the last, and the boxes ``(M, 4)``.
    """
    every = np.arange(rows[0], rows[-1] + 1)
    filled = np.column_stack(
        [np.interp(times[every], times[rows], boxes[:, side]) for side in range(4)]
    )
    return every, filled


def smooth(
    boxes: NDArray[np.float64], times: NDArray[np.float64], half_window: float
) -> NDArray[np.float64]:
    """Smooth the boxes of a track by local linear regression.

    Args:
        boxes: ``(N, 4)`` boxes in order of time.
        times: ``(N,)`` times in seconds.
        half_window: Half the window in seconds; 0 for no smoothing.

    Returns:
        ``(N, 4)`` boxes; centre and logarithm of the size are smoothed, so that sizes stay
        positive.
    """
    if half_window <= 0 or len(boxes) < 3:
        return boxes
    sizes = boxes[:, 2:] - boxes[:, :2]
    values = np.concatenate([(boxes[:, :2] + boxes[:, 2:]) / 2.0, np.log(sizes)], axis=1)
    alone = np.zeros(len(boxes), dtype=np.intp)
    fitted = local_lines(times, values, alone, np.arange(len(boxes)), half_window).heights()
    half = np.exp(fitted[:, 2:]) / 2.0
    return np.concatenate([fitted[:, :2] - half, fitted[:, :2] + half], axis=1)


def extend(
    rows: NDArray[np.intp],
    boxes: NDArray[np.float64],
    times: NDArray[np.float64],
    seconds: float,
    velocity_window: float,
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Extrapolate a track at both ends with its velocity there.

    Args:
        rows: ``(N,)`` its frames, without gaps.
        boxes: ``(N, 4)`` its boxes.
        times: ``(T,)`` times of all frames in seconds.
        seconds: Length of the extrapolation at either end.
        velocity_window: Half the window of velocity estimates in seconds.

    Returns:
        The frames and boxes, including the extrapolated ones.
    """
    start, end = times[rows[0]], times[rows[-1]]
    before = np.flatnonzero((times >= start - seconds) & (times < start))
    after = np.flatnonzero((times > end) & (times <= end + seconds))
    lines = local_lines(
        times[rows],
        (boxes[:, :2] + boxes[:, 2:]) / 2.0,
        np.zeros(len(rows), dtype=np.intp),
        np.array([0, len(rows) - 1]),
        velocity_window,
    )
    first, last = lines.slopes()
    early = boxes[0] + np.tile(first, 2) * (times[before] - start)[:, None]
    late = boxes[-1] + np.tile(last, 2) * (times[after] - end)[:, None]
    return np.concatenate([before, rows, after]), np.concatenate([early, boxes, late])
