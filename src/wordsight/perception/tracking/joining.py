"""From tracklets to whole tracks: the same lattice once more, over gaps and with velocities."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.perception.tracking.coherence import Coherence, States, local_lines
from wordsight.perception.tracking.paths import disjoint_paths
from wordsight.perception.tracking.tracklets import LabelDetections, Tracklets

__all__ = ["GapCosts", "extend", "fill", "join_tracklets", "smooth"]


_BLOCK_PAIRS = 1_000_000  # pairs of tracklets compared at a time, which bounds memory


@dataclass(frozen=True)
class GapCosts:
    """What it costs to lose sight of an object.

    Attributes:
        ends: Cost of a track's start and end together.
        missed: Cost of missing it at all.
        per_second: Cost of every second it is out of sight.
        longest: Gaps of more seconds than this are not bridged.
    """

    ends: float
    missed: float
    per_second: float
    longest: float


def join_tracklets(
    seen: LabelDetections,
    tracklets: Tracklets,
    coherence: Coherence,
    costs: GapCosts,
    velocity_window: float,
) -> tuple[list[NDArray[np.intp]], NDArray[np.float64]]:
    """Join tracklets into tracks, and drop those that gain nothing.

    Args:
        seen: The detections.
        tracklets: Runs of them.
        coherence: What a link gains.
        costs: What a gap costs.
        velocity_window: Half the stretch of time that tells size and velocity at a tracklet's end.

    Returns:
        The observations of each track, in order of time, and what each track gains in all.
    """
    paths = tracklets.paths
    if not paths:
        return [], np.zeros(0)
    starts, stops = _ends(tracklets, velocity_window)
    rows = seen.rows
    first_rows = rows[np.array([path[0] for path in paths])]
    last_rows = rows[np.array([path[-1] for path in paths])]
    tails, heads, gains = [], [], []
    for one, other in _candidates(starts.times, stops.times, costs.longest + seen.frame_seconds):
        before, after = stops[one], starts[other]
        distances = coherence.distances(before, after, tracklets.jitter)
        out_of_sight = np.maximum(after.times - before.times - seen.frame_seconds, 0.0)
        missed = first_rows[other] - last_rows[one] > 1
        gain = coherence.gains(distances) - costs.per_second * out_of_sight - costs.missed * missed
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


def _ends(tracklets: Tracklets, half_window: float) -> tuple[States, States]:
    """Return the states in which tracklets start and stop, sizes averaged over the window."""
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
    """Pair every tracklet with those that start after it stops, but not too late, in blocks."""
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


# What happens to a track once its detections are known: smoothing, filling gaps, reaching on.


def fill(
    rows: NDArray[np.intp], boxes: NDArray[np.float64], times: NDArray[np.float64]
) -> tuple[NDArray[np.intp], NDArray[np.float64], NDArray[np.bool_]]:
    """Give a track a box in every frame from its first to its last.

    Args:
        rows: ``(N,)`` the frames it was seen in, rising.
        boxes: ``(N, 4)`` its boxes there.
        times: ``(T,)`` when each frame of the video is shown, in seconds.

    Returns:
        The frames ``(M,)``, the boxes ``(M, 4)``, straight lines in time between those seen, and
        ``(M,)`` true where it was seen.
    """
    every = np.arange(rows[0], rows[-1] + 1)
    filled = np.column_stack(
        [np.interp(times[every], times[rows], boxes[:, side]) for side in range(4)]
    )
    return every, filled, np.isin(every, rows)


def smooth(
    boxes: NDArray[np.float64], times: NDArray[np.float64], half_window: float
) -> NDArray[np.float64]:
    """Take the jitter out of a track: straight lines fitted to the boxes around each one.

    Args:
        boxes: ``(N, 4)`` boxes in order of time.
        times: ``(N,)`` when, in seconds.
        half_window: How far the neighbours reach to either side, in seconds; 0 changes nothing.

    Returns:
        ``(N, 4)`` boxes; centre and logarithm of the size are smoothed, so that none turns inside
        out.
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
    """Let a track move on at both ends as it moved there last.

    Args:
        rows: ``(N,)`` its frames, without gaps.
        boxes: ``(N, 4)`` its boxes.
        times: ``(T,)`` when each frame of the video is shown, in seconds.
        seconds: How far to reach on.
        velocity_window: How much of each end tells its velocity, in seconds.

    Returns:
        The frames and boxes with those added in front and behind.
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
