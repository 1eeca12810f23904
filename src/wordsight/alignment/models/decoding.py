"""From posteriors to alignments: the line of each chunk, spans, boundaries, confidence.

A model that goes through a text in order gives some time to every step, even to one that was left
out. Steps that last far shorter than their share of the text are rejected afterwards.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from wordsight.alignment.records import (
    NO_LINE,
    Alignment,
    Instructions,
    LineBoundary,
    LineSpan,
    Observed,
)

__all__ = [
    "alignment_from",
    "best_lines",
    "reject_short_steps",
    "restore_lines",
    "step_posterior",
]


Array = NDArray[np.float64]

_TOLERANCE = 2.0  # seconds within which a boundary counts as correct
_CHANGE = 0.5  # cost of a change of step, in chunks
_RETURN = 3.0  # cost of a return to an earlier step, which is rarer
_TRACE = 0.3  # probability at some chunk for which a line without a chunk of its own still happened


def step_posterior(posterior: Array, steps: NDArray[np.int64]) -> Array:
    """Return ``(T, K)`` the probability of each step, steps numbered in order without gaps."""
    _, places = np.unique(steps, return_inverse=True)
    sums = np.zeros((len(posterior), int(places[-1]) + 1))
    np.add.at(sums.T, places, posterior.T)
    return sums


def best_lines(posterior: Array, steps: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return ``(T,)`` the line of each chunk, -1 for none.

    Chooses the sequence of steps with the most chunks expected to be right, minus a cost for each
    change so that single chunks do not flicker; then, within each run of a step, lines in the order
    of the text.
    """
    sums = step_posterior(posterior, steps)
    _, places = np.unique(steps, return_inverse=True)
    sequence = _smooth_path(sums)
    lines = np.empty(len(posterior), dtype=np.int64)
    cuts = np.flatnonzero(np.diff(sequence)) + 1
    for run in np.split(np.arange(len(sequence)), cuts):
        members = np.flatnonzero(places == sequence[run[0]])
        lines[run] = members[_in_order(posterior[np.ix_(run, members)])]
    lines[1.0 - posterior.sum(axis=1) > 0.5] = NO_LINE
    return lines


def alignment_from(
    instructions: Instructions, observed: Observed, posterior: Array, best: NDArray[np.int64]
) -> Alignment:
    """Return spans and boundaries from posteriors ``(T, N)`` and each chunk's line ``(T,)``."""
    steps = instructions.steps
    sums = step_posterior(posterior, steps)
    _, places = np.unique(steps, return_inverse=True)
    times = observed.times
    spans = [
        span
        for line in range(len(steps))
        for span in _spans_of(line, best, places, posterior, sums[:, places[line]], times)
    ]
    return Alignment(
        observed.video_id,
        times,
        posterior,
        best,
        tuple(spans),
        _boundaries(best, posterior, places, times),
        steps,
    )


def _smooth_path(sums: Array) -> NDArray[np.int64]:
    """Return the steps ``(T,)`` with the highest sum of posteriors minus the costs of changes."""
    chunks, count = sums.shape
    score = sums[0].copy()
    came = np.empty((chunks, count), dtype=np.int64)
    every = np.arange(count)
    for t in range(1, chunks):
        ahead = np.maximum.accumulate(score)  # the best step so far in the text, up to each one
        leader = np.maximum.accumulate(np.where(score >= ahead, every, 0))
        forward = ahead - _CHANGE
        anywhere = int(score.argmax())
        best = np.where(score >= forward, every, leader)
        value = np.maximum(score, forward)
        back = score[anywhere] - _RETURN > value
        came[t] = np.where(back, anywhere, best)
        score = np.where(back, score[anywhere] - _RETURN, value) + sums[t]
    path = np.empty(chunks, dtype=np.int64)
    path[-1] = int(score.argmax())
    for t in range(chunks - 1, 0, -1):
        path[t - 1] = came[t, path[t]]
    return path


def _in_order(weights: Array) -> NDArray[np.int64]:
    """Return columns ``(T,)`` that never decrease, with the highest sum of weights ``(T, N)``."""
    totals = np.zeros_like(weights)
    score = weights[0].copy()
    totals[0] = score
    for t in range(1, len(weights)):
        score = np.maximum.accumulate(score) + weights[t]
        totals[t] = score
    columns = np.empty(len(weights), dtype=np.int64)
    last = weights.shape[1]
    for t in range(len(weights) - 1, -1, -1):
        columns[t] = int(totals[t, :last].argmax())
        last = int(columns[t]) + 1
    return columns


def _spans_of(
    line: int,
    best: NDArray[np.int64],
    places: NDArray[np.int64],
    posterior: Array,
    step: Array,
    times: Array,
) -> list[LineSpan]:
    chunks = np.flatnonzero(best == line)
    if not len(chunks):
        # Lines of one step are hardly distinguished: a line whose step happened did happen, where
        # it is most probable within the step, however short the step.
        inside = (best != NO_LINE) & (places[best] == places[line])
        weights = np.where(inside, posterior[:, line], -1.0) if inside.any() else posterior[:, line]
        at = int(weights.argmax())
        top = float(np.clip(posterior[at, line], 0.0, 1.0))
        if inside.any() or top >= _TRACE:
            return [LineSpan(line, float(times[at, 0]), float(times[at, 1]), top)]
        moment = _place_between(line, best, times)
        return [LineSpan(line, moment, moment, 1.0 - top, happened=False)]
    runs = np.split(chunks, np.flatnonzero(np.diff(chunks) > 1) + 1)
    return [
        LineSpan(
            line,
            float(times[run[0], 0]),
            float(times[run[-1], 1]),
            float(np.clip(step[run].mean(), 0.0, 1.0)),
        )
        for run in runs
    ]


def _place_between(line: int, best: NDArray[np.int64], times: Array) -> float:
    """Return the time at which a line that did not happen would be expected."""
    before = np.flatnonzero((best >= 0) & (best < line))
    if len(before):
        return float(times[before[-1], 1])
    return float(times[0, 0])


def _boundaries(
    best: NDArray[np.int64], posterior: Array, places: NDArray[np.int64], times: Array
) -> tuple[LineBoundary, ...]:
    boundaries = []
    edges = (times[1:, 0] + times[:-1, 1]) / 2
    reached = np.cumsum(posterior[:, ::-1], axis=1)[:, ::-1]  # probability of a line or a later one
    for t in np.flatnonzero(np.diff(best)):
        before, after = int(best[t]), int(best[t + 1])
        moment = float(edges[t])
        early, late = _around(moment, times)
        if before < 0 or after <= before:
            # A return or a stop: the less probable of the two sides.
            confidence = min(
                _probability(posterior[early], before), _probability(posterior[late], after)
            )
        else:
            other = places[after] != places[before]
            first = int(np.argmax(places == places[after])) if other else after
            confidence = float(reached[late, first] - reached[early, first])
        boundaries.append(LineBoundary(moment, before, after, float(np.clip(confidence, 0.0, 1.0))))
    return tuple(boundaries)


def _around(moment: float, times: Array) -> tuple[int, int]:
    """Return the last chunk before and the first one after the tolerance around a time."""
    middles = times.mean(axis=1)
    early = int(np.searchsorted(middles, moment - _TOLERANCE)) - 1
    late = int(np.searchsorted(middles, moment + _TOLERANCE))
    return max(early, 0), min(late, len(middles) - 1)


def _probability(row: Array, line: int) -> float:
    return float(row[line]) if line >= 0 else 1.0 - float(row.sum())


def reject_short_steps(
    alignment: Alignment, instructions: Instructions, least: float = 0.2
) -> Alignment:
    """Mark steps as not happened that are much shorter than their share of the text.

    Args:
        alignment: The alignment.
        instructions: The text that was aligned.
        least: Least duration of a step, as a share of that expected from its number of lines.

    Returns:
        The alignment with the spans of such steps replaced and their chunks assigned to no line.
    """
    _, places = np.unique(instructions.steps, return_inverse=True)
    lasted = np.zeros(int(places[-1]) + 1)
    for span in alignment.spans:
        if span.happened:
            lasted[places[span.line]] += span.end - span.start
    expected = np.bincount(places) / len(places) * lasted.sum()
    short = (lasted > 0) & (lasted < least * expected)
    if not short.any():
        return alignment
    rejected = short[places]
    best = alignment.best.copy()
    best[(best != NO_LINE) & rejected[np.maximum(best, 0)]] = NO_LINE
    spans: list[LineSpan] = []
    for span in alignment.spans:
        if not rejected[span.line]:
            spans.append(span)
        elif not spans or spans[-1].line != span.line:
            step = places[span.line]
            # The shorter the step, the higher the confidence that it did not happen.
            confidence = float(np.clip(1.0 - lasted[step] / max(expected[step], 1e-9), 0.0, 1.0))
            spans.append(LineSpan(span.line, span.start, span.start, confidence, happened=False))
    boundaries = tuple(
        edge
        for edge in alignment.boundaries
        if not any(line >= 0 and rejected[line] for line in (edge.before, edge.after))
    )
    return replace(alignment, best=best, spans=tuple(spans), boundaries=boundaries)


def restore_lines(
    alignment: Alignment, instructions: Instructions, kept: NDArray[np.int64], absent: Array
) -> Alignment:
    """Return an alignment of the whole text from that of a part of it.

    Args:
        alignment: The alignment of the lines that were kept.
        instructions: The whole text.
        kept: ``(M,)`` the kept lines, in order.
        absent: ``(N,)`` probability that each line does not happen, reported for the others.
    """
    count = len(instructions.lines)
    if len(kept) == count:
        return alignment
    posterior = np.zeros((len(alignment.posterior), count))
    posterior[:, kept] = alignment.posterior
    line = np.append(kept, NO_LINE)  # NO_LINE, counted from the end, stays NO_LINE
    best = line[alignment.best]
    spans = [replace(span, line=int(line[span.line])) for span in alignment.spans]
    for gone in np.setdiff1d(np.arange(count), kept):
        moment = _place_between(int(gone), best, alignment.times)
        spans.append(LineSpan(int(gone), moment, moment, float(absent[gone]), happened=False))
    boundaries = tuple(
        replace(edge, before=int(line[edge.before]), after=int(line[edge.after]))
        for edge in alignment.boundaries
    )
    return replace(
        alignment,
        posterior=posterior,
        best=best,
        spans=tuple(sorted(spans, key=lambda span: (span.line, span.start))),
        boundaries=boundaries,
        steps=instructions.steps,
    )
