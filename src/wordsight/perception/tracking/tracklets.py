"""Linking detections of neighbouring frames into tracklets.

The lattice is solved a few times: each solution gives velocities and jitter that improve the links
of the next one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

from wordsight.perception.tracking.coherence import (
    Coherence,
    States,
    local_lines,
    log_odds,
    steps_between,
)
from wordsight.perception.tracking.paths import disjoint_paths

__all__ = [
    "FlatDetections",
    "Links",
    "Tracklets",
    "form_tracklets",
    "frames_looked_at",
    "nearest_steps",
    "neighbour_links",
    "support",
]

_LEAST_FRAMES = 4  # frames with boxes; fewer may be regular by chance
_ADJACENT_SHARE = 0.05  # of neighbouring frames with boxes in boxes that count as sparse
_REGULAR_SHARE = 0.5  # of steps between frames with boxes that are the usual step


def frames_looked_at(mask: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the frames in which boxes were looked for.

    Boxes that come on every n-th frame leave the frames between empty, and that is no evidence
    that nothing is there. Such boxes are recognised by their regular steps; where one of them is
    missing, the frame was looked at in vain.

    Args:
        mask: ``(T, J)`` true where there is a box.

    Returns:
        Ascending indices of frames; all T, unless the boxes are sparse.
    """
    everything = np.arange(len(mask))
    seen = np.flatnonzero(mask.any(axis=1))
    if len(seen) < _LEAST_FRAMES:
        return everything
    steps = np.diff(seen)
    usual = float(np.median(steps))
    regular = np.abs(steps - usual) <= 1.0
    if (steps == 1).mean() > _ADJACENT_SHARE or regular.mean() < _REGULAR_SHARE:
        return everything
    mean = float(steps[regular].mean())  # 25 frames a second with 10 of them looked at: 2, 3, 2 ...
    before, after = seen[0] // mean, (len(mask) - 1 - seen[-1]) // mean
    knots = [seen[0] - before * mean, *seen.tolist(), seen[-1] + after * mean]
    parts = [
        np.linspace(start, end, max(1, round((end - start) / mean)), endpoint=False)
        for start, end in pairwise(knots)
    ]
    return np.unique(np.round(np.concatenate([*parts, knots[-1:]])).astype(np.intp))


_BLOCK_PAIRS = 1_000_000  # pairs of detections compared at a time, to bound memory
_JITTER_BLOCKS = 4  # blocks of pairs for the first estimate of the jitter
_PASSES = 3  # more changed nothing on eleven pedestrian videos


@dataclass(frozen=True, eq=False)
class FlatDetections:
    """N detections as flat arrays, in order of their frame.

    Attributes:
        rows: ``(N,)`` index of the frame, ascending.
        states: Time, position and size of each; velocities from optical flow, or zero.
        scores: ``(N,)`` the detector's confidence.
        labels: ``(N,)`` index of the class.
        num_rows: Number of frames.
        frame_seconds: Median frame interval.
    """

    rows: NDArray[np.intp]
    states: States
    scores: NDArray[np.float64]
    labels: NDArray[np.int32]
    num_rows: int
    frame_seconds: float


@dataclass(frozen=True, eq=False)
class Links:
    """L possible links between nodes.

    Attributes:
        tails: ``(L,)`` the earlier node.
        heads: ``(L,)`` the later node.
        distances: ``(L,)`` distance from the prediction, in standard deviations.
        gains: ``(L,)`` G, less the cost of a change of class.
    """

    tails: NDArray[np.intp]
    heads: NDArray[np.intp]
    distances: NDArray[np.float64]
    gains: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tracklets:
    """Result of :func:`form_tracklets`.

    Attributes:
        paths: The detections of each tracklet, in order of time.
        gains: ``(M,)`` sum of F and G along each, without the cost of its ends.
        odds: ``(N,)`` F of every detection.
        states: The detections with estimated velocities.
        jitter: ``(4,)`` standard deviations of steps.
    """

    paths: list[NDArray[np.intp]]
    gains: NDArray[np.float64]
    odds: NDArray[np.float64]
    states: States
    jitter: NDArray[np.float64]


def form_tracklets(
    seen: FlatDetections,
    coherence: Coherence,
    *,
    ends_cost: float,
    flip_cost: float,
    prior: float,
    velocity_window: float,
) -> Tracklets:
    """Link detections of neighbouring frames.

    Args:
        seen: The detections.
        coherence: Gain of a link.
        ends_cost: Cost of a tracklet's start and end together; links worth less are cut.
        flip_cost: Cost of a link between detections of different classes.
        prior: Log-odds subtracted from every detection.
        velocity_window: Half the window of velocity estimates in seconds.

    Returns:
        The tracklets; detections that lower the total gain are in none of them.
    """
    states = seen.states
    jitter = coherence.jitter(nearest_steps(seen), moving_unknown=True)
    for _ in range(_PASSES):
        links = neighbour_links(seen, states, coherence, jitter, ends_cost, flip_cost)
        odds = log_odds(seen.scores, support(seen, links, coherence.tolerance), prior=prior)
        half = ends_cost / 2.0
        paths, totals = disjoint_paths(
            odds, links.tails, links.heads, links.gains, entry_cost=half, exit_cost=half
        )
        states = _with_velocities(seen.states, paths, coherence, jitter, velocity_window)
        tails, heads = _steps_of(paths)
        jitter = coherence.jitter(steps_between(states[tails], states[heads]))
    return Tracklets(paths, totals + ends_cost, odds, states, jitter)


def neighbour_links(
    seen: FlatDetections,
    states: States,
    coherence: Coherence,
    jitter: NDArray[np.float64],
    ends_cost: float,
    flip_cost: float,
) -> Links:
    """Return the links between neighbouring frames that are worth more than a cut."""
    none = np.zeros(0, dtype=np.intp)
    kept = [(none, none, np.zeros(0), np.zeros(0))]
    for tails, heads in _neighbour_pairs(seen):
        distances = coherence.distances(states[tails], states[heads], jitter)
        gains = coherence.gains(distances)
        gains -= flip_cost * (seen.labels[tails] != seen.labels[heads])
        good = gains > -ends_cost
        kept.append((tails[good], heads[good], distances[good], gains[good]))
    return Links(*(np.concatenate(parts) for parts in zip(*kept, strict=True)))


def support(seen: FlatDetections, links: Links, tolerance: float) -> NDArray[np.float64]:
    """Return the share, 0 to 1, of each detection's neighbouring frames with a matching one."""
    close = links.distances < tolerance
    before, after = np.zeros(len(seen.rows)), np.zeros(len(seen.rows))
    after[links.tails[close]] = 1.0
    before[links.heads[close]] = 1.0
    neighbours = (seen.rows > 0).astype(float) + (seen.rows < seen.num_rows - 1)
    share: NDArray[np.float64] = (before + after) / np.maximum(neighbours, 1.0)
    return share


def _with_velocities(
    states: States,
    paths: list[NDArray[np.intp]],
    coherence: Coherence,
    jitter: NDArray[np.float64],
    half_window: float,
) -> States:
    """Estimate the velocity of every state on a path from its neighbours there.

    The velocity that the state has (from optical flow, or zero) is a prior, which counts more if
    there are fewer and closer neighbours.
    """
    velocities = states.velocities.copy()
    variances = np.full_like(states.variances, coherence.speed**2)
    if paths:
        nodes = np.concatenate(paths)
        groups = np.repeat(np.arange(len(paths)), [len(path) for path in paths])
        lines = local_lines(
            states.times[nodes], states.centres[nodes], groups, np.arange(len(nodes)), half_window
        )
        noise = jitter[:2] ** 2 / 2.0  # a step is the difference of two jittering boxes
        weight = noise / coherence.speed**2
        velocities[nodes] = lines.slopes(velocities[nodes], weight)
        variances[nodes] = noise / (lines.spread[:, None] + weight)
    return replace(states, velocities=velocities, variances=variances)


def _neighbour_pairs(seen: FlatDetections) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield all pairs of detections in neighbouring frames, whole frames at a time."""
    counts = np.bincount(seen.rows, minlength=seen.num_rows + 1)
    starts = np.concatenate([[0], np.cumsum(counts)])
    pairs = counts[:-1] * counts[1:]
    blocks = np.cumsum(pairs) // _BLOCK_PAIRS
    for block in np.unique(blocks[pairs > 0]):
        frames = np.flatnonzero((blocks == block) & (pairs > 0))
        nodes = np.concatenate([np.arange(starts[f], starts[f + 1]) for f in frames])
        following = counts[seen.rows[nodes] + 1]
        tails = np.repeat(nodes, following)
        firsts = np.repeat(np.cumsum(following) - following, following)
        yield tails, starts[seen.rows[tails] + 1] + np.arange(len(tails)) - firsts


def nearest_steps(seen: FlatDetections) -> NDArray[np.float64]:
    """Return the steps between mutually nearest detections, most of which are correct."""
    steps_found = [np.zeros((0, 4))]
    for tails, heads in islice(_neighbour_pairs(seen), _JITTER_BLOCKS):
        steps = steps_between(seen.states[tails], seen.states[heads])
        squared = (steps**2).sum(axis=1)
        mutual = _is_least(tails, squared) & _is_least(heads, squared)
        steps_found.append(steps[mutual])
    return np.concatenate(steps_found)


def _is_least(keys: NDArray[np.intp], values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return for each value whether it is the first minimum among those with the same key."""
    order = np.lexsort((values, keys))
    first = np.ones(len(keys), dtype=np.bool_)
    first[1:] = keys[order][1:] != keys[order][:-1]
    least = np.zeros(len(keys), dtype=np.bool_)
    least[order[first]] = True
    return least


def _steps_of(paths: list[NDArray[np.intp]]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    none = np.zeros(0, dtype=np.intp)
    tails = np.concatenate([none, *(path[:-1] for path in paths)])
    heads = np.concatenate([none, *(path[1:] for path in paths)])
    return tails, heads
