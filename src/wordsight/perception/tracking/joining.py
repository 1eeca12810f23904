"""From tracklets to whole tracks: the same lattice once more, over gaps and with velocities."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordsight.perception.tracking.coherence import Coherence, States
from wordsight.perception.tracking.motion import local_lines
from wordsight.perception.tracking.paths import disjoint_paths
from wordsight.perception.tracking.tracklets import Observations, Tracklets

__all__ = ["GapCosts", "join_tracklets"]

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
    seen: Observations,
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
